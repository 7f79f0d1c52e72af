"""Python reprs of messages: `[ChatMessage(role=<MessageRole.USER: 'user'>, blocks=[TextBlock(text='hi')])]` back to objects.

Some instrumentations write str() of their framework's objects (Haystack, LlamaIndex, LangChain, OpenAI models). Only literals, lists,
dicts and
constructor calls with keywords are read; nothing is executed.
"""

import ast
import re
from typing import Any

from otel_eval.model.characters import whole_value

_STARTS = re.compile(r"\[?\s*[A-Z][A-Za-z0-9_.]*\(\s*_?[a-z]\w*=")
_ENUM = re.compile(r"<[\w.]+: ('[^']*'|\"[^\"]*\"|-?\d+)>")
_OPAQUE = re.compile(r"<[A-Za-z_][\w. ]*(?: object)? at 0x[0-9a-f]+>")
_MAX_CHARS = 500_000  # longer texts are not worth the parser's memory


def looks_like_repr(text: str) -> bool:
    """Whether a text begins as the repr of an object, or of a list of them."""
    return bool(_STARTS.match(text))


def value_from_repr(text: str) -> Any:
    """The value that a repr shows, constructor calls as dicts with `__class__`; None where it is none."""
    if len(text) > _MAX_CHARS or not looks_like_repr(text):
        return None
    cleaned = _OPAQUE.sub("None", _ENUM.sub(r"\1", text.strip()))
    try:
        tree = ast.parse(cleaned, mode="eval")
        return _value(tree.body)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return whole_value(node.value)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [_value(e) for e in node.elts]
    if isinstance(node, ast.Dict):
        return {str(_value(k)): _value(v) for k, v in zip(node.keys, node.values, strict=True) if k is not None}
    if isinstance(node, ast.Call):
        return _object(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _value(node.operand)
        return -inner if isinstance(inner, (int, float)) else None
    return ast.unparse(node)


def _object(node: ast.Call) -> Any:
    name = ast.unparse(node.func).rsplit(".", 1)[-1]
    fields: dict[str, Any] = {"__class__": name}
    for keyword in node.keywords:
        if keyword.arg is not None:
            fields[keyword.arg.lstrip("_")] = _value(keyword.value)
    if len(fields) == 1 and len(node.args) == 1:
        return _value(node.args[0])
    return fields
