"""What a tool result says about its call: failed, empty, or nothing known."""

import json
import re
from typing import Any

from otel_eval.model import ToolResult

MAX_PHRASE_CHARS = 120
"""A longer text that begins with "No results" is an answer, not an empty result."""

_FAILURE_WORDS = re.compile(
    r"\W{0,3}(?:"
    r"\w*(?:error|exception)\s*(?:[:：!(\[-]|\d|code\b|occurred|while\b|when\b|calling|executing|invoking|running|$)(?!\s*(?:0|none|null|false)\b)|"
    r"traceback \(most recent|(?:failed|unable) to\b|failure\s*[:：!]|failed\s*[:：!.]|an? (?:\w+ )?error (?:has )?occurred|fatal\s*[:：]|"
    r"(?:오류|에러)\s*(?:[:：!(\[]|가|$)|실패\s*(?:[:：!]|했|하였|$)|(?:エラー|失敗|错误|錯誤|失败)\s*(?:[:：!！(（\[]|が|しました|$)|"
    r"(?:fehler|erreur|échec|fallo)\s*(?:[:：!]|$|beim\b|lors\b|al\b|de\b)"
    r")",
    re.IGNORECASE,
)
_NOTHING_WORDS = re.compile(
    r"(?:\W|(?:no|0|zero)\s+(?:results?|matches|items?|records?|rows?|data|entries)(?:\s+(?:were\s+)?(?:found|available|returned))?|not\s+found|"
    r"none|null|empty|결과가?\s*없(?:습니다|음|어요)|데이터가?\s*없(?:습니다|음)|(?:該当|結果|データ)(?:が|は)?(?:ありません|なし)|"
    r"(?:没有|沒有|无|無)(?:找到)?(?:任何)?(?:结果|結果|数据|數據|记录|記錄)|keine\s+(?:ergebnisse|treffer|daten)|"
    r"aucun\s+(?:résultat|élément)|(?:sin|no\s+hay)\s+resultados)\W*",
    re.IGNORECASE,
)
_FAILURE_KEYS = ("error", "errors", "exception", "error_message", "errorMessage")
_FAILURE_FLAGS = {"is_error": True, "isError": True, "success": False, "ok": False}
_LIST_KEYS = ("results", "items", "data", "records", "rows", "documents", "matches", "hits", "entries")


def result_failed(result: ToolResult) -> bool | None:
    """Whether the call failed: what was recorded about it, or what the text says; None where there is neither.

    A text says so by beginning with an error ("Error: timeout", "KeyError: 'x'", "Failed to …", "오류: …"), or as a JSON object with an
    `error` member or `success: false`. The text counts even where the span ended well: a tool that catches its own exception and returns
    "Error: …" has failed in the eyes of its user.
    """
    if result.is_error or result.content is None:
        return result.is_error
    content = result.content.strip()
    value = _leading_object(content)
    if isinstance(value, dict):
        flagged = any(value.get(name) is wrong for name, wrong in _FAILURE_FLAGS.items())
        return flagged or any(value.get(name) for name in _FAILURE_KEYS) or str(value.get("status", "")).lower() in ("error", "failed")
    return _FAILURE_WORDS.match(content) is not None


def _leading_object(content: str) -> Any:
    """The JSON object that the text begins with, whatever stands behind it; None where it begins with none."""
    if content[:1] != "{":
        return None
    try:
        return json.JSONDecoder().raw_decode(content)[0]
    except (ValueError, RecursionError):
        return None


def result_empty(result: ToolResult) -> bool | None:
    """Whether a call that did not fail gave nothing: "", [], {}, null, "No results found.", {"results": []}; None where unknown."""
    if result.content is None:
        return None
    content = result.content.strip()
    value = json_value(content)
    if isinstance(value, dict) and value:
        lists = [value[name] for name in _LIST_KEYS if name in value]
        return bool(lists) and all(item in ([], {}, None, "") for item in lists)
    if value in ([], {}, "") or content in ("", "null"):
        return True
    return len(content) <= MAX_PHRASE_CHARS and _NOTHING_WORDS.fullmatch(content) is not None


def json_value(content: str) -> Any:
    """The JSON value a text is, None where it is none (or the value null)."""
    if content[:1] not in ("{", "[", '"'):
        return None
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
