"""Functions named by a path, `package.module:function`."""

from collections.abc import Callable
from importlib import import_module
from typing import Any


def function_from_path(path: str) -> Callable[..., Any]:
    """The function a path names; ValueError says what is wrong with the path. Importing runs the module, so paths come from operators."""
    module_name, colon, attributes = path.partition(":")
    if not (colon and module_name and attributes):
        raise ValueError(f"{path!r} is not a path to a function: write 'package.module:function'")
    found: Any = module_from_name(module_name, path)
    for attribute in attributes.split("."):
        if not hasattr(found, attribute):
            raise ValueError(f"{path!r}: module {module_name!r} has no {attribute!r}; check the name after the colon")
        found = getattr(found, attribute)
    if not callable(found):
        raise ValueError(f"{path!r} is a {type(found).__name__}, not a function")
    function: Callable[..., Any] = found
    return function


def module_from_name(name: str, path: str) -> Any:
    """The module of a path; ValueError where importing it fails, whatever the module raises."""
    try:
        return import_module(name)
    except Exception as error:
        raise ValueError(
            f"{path!r}: importing module {name!r} failed with {type(error).__name__}; for a module in this folder set PYTHONPATH=."
        ) from error
