"""As much of JSON Schema as our own schema uses, to hold what we write against it without a further package."""

import re
from collections.abc import Mapping
from typing import Any

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "boolean": bool,
    "null": type(None),
}


def faults(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], at: str = "$") -> list[str]:
    """Where a value is not as the schema has it; members that the schema does not name are faults, for it shall name all."""
    if "$ref" in schema:
        return faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, at)
    if "anyOf" in schema:
        tried = [faults(value, option, root, at) for option in schema["anyOf"]]
        return [] if [] in tried else min(tried, key=len)
    if "const" in schema:
        return [] if value == schema["const"] else [f"{at}: not {schema['const']!r}"]
    if "enum" in schema:
        return [] if value in schema["enum"] else [f"{at}: not one of {schema['enum']}"]
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(isinstance(value, _TYPES[k]) and not (k == "integer" and isinstance(value, bool)) for k in kinds):
        return [f"{at}: no {kinds}"]
    if "pattern" in schema and not re.search(schema["pattern"], value):
        return [f"{at}: not as {schema['pattern']}"]
    if isinstance(value, list):
        return [f for place, item in enumerate(value) for f in faults(item, schema["items"], root, f"{at}[{place}]")]
    return _faults_of_object(value, schema, root, at) if isinstance(value, dict) and "properties" in schema else []


def _faults_of_object(value: Mapping[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], at: str) -> list[str]:
    missing = [f"{at}: without {name}" for name in schema["required"] if name not in value]
    unnamed = [f"{at}.{name}: not named" for name in value if name not in schema["properties"]]
    inner = [f for k, v in value.items() if k in schema["properties"] for f in faults(v, schema["properties"][k], root, f"{at}.{k}")]
    return missing + unnamed + inner
