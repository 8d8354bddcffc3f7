"""How much local memory a rendered kernel declares, without a compiler.

The declarations of this project are simple: arrays and variables of local memory, with sizes made
of numbers, macros and the four operations. What a compiler says is compared in test_compiled.py.
"""

import ast
import operator
import re

WIDTHS = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "float": 4}
WIDTHS |= {"long": 8, "ulong": 8, "double": 8, "bool": 1}
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.LShift: operator.lshift,
}
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
DEFINE = re.compile(r"^#define (\w+) (.*)$", re.MULTILINE)
TYPEDEF = re.compile(r"typedef\s+(\w+)\s+(\w+);")
STRUCT = re.compile(r"typedef\s+struct\s*(?:\w+\s*)?\{([^}]*)\}\s*(\w+);")
DECLARATION = re.compile(r"__local\s+(?:volatile\s+)?(\w+)\s+(\w+\s*(?:\[[^;]*|,[^;]*)?);")
ALIGNED = re.compile(r"__attribute__\(\(aligned\(\d+\)\)\)")
GROUP_SIZE = re.compile(r"reqd_work_group_size\((\d+), 1, 1\)")


def entry_points(source: str) -> list[tuple[str, int, int]]:
    """Give the name, work-items per group (0: any) and bytes of local memory of each kernel."""
    text = COMMENT.sub("", source)
    values = dict(DEFINE.findall(text))
    widths = _types(text)
    found = []
    for part in text.split("__kernel")[1:]:
        name = re.search(r"void\s+(\w+)\s*\(", part)
        size, body = GROUP_SIZE.search(part), part
        # Macros of the vocabulary declare what their words need.
        for macro in ("LANE_SETUP", "GROUP_SETUP"):
            body = re.sub(rf"\b{macro}\b", lambda _, m=macro: values.get(m, ""), body)
        found.append((name[1], int(size[1]) if size else 0, _declared(body, values, widths)))
    return found


def _types(text: str) -> dict[str, int]:
    widths = dict(WIDTHS)
    for base in WIDTHS:
        widths |= {f"{base}{n}": WIDTHS[base] * (4 if n == 3 else n) for n in (2, 3, 4, 8, 16)}
    for _ in range(3):  # types of types of types
        for kind, name in TYPEDEF.findall(text):
            if kind in widths:
                widths[name] = widths[kind]
    for members, name in STRUCT.findall(text):
        if "*" in members:
            continue  # of one work-item, which has no such thing in local memory
        widths[name] = 0
        for member in filter(str.strip, members.split(";")):
            kind, *names = member.replace(",", " ").split()
            widths[name] += widths[kind] * len(names)
    return widths


def _declared(text: str, values: dict[str, str], widths: dict[str, int]) -> int:
    total = 0
    for kind, names in DECLARATION.findall(text):
        for one in ALIGNED.sub("", names).split(","):
            _, bracket, length = one.strip().partition("[")
            count = _number(length.rstrip("] "), values) if bracket else 1
            total += -(-count * widths[kind] // 8) * 8
    return total


def _number(expression: str, values: dict[str, str]) -> int:
    for _ in range(9):
        replaced = re.sub(r"\b[A-Za-z_]\w*\b", lambda m: f"({values[m[0]].strip()})", expression)
        if replaced == expression:
            break
        expression = replaced
    return _value(ast.parse(re.sub(r"\b(\d+)u?l?\b", r"\1", expression), mode="eval").body)


def _value(node: ast.expr) -> int:
    if isinstance(node, ast.Constant):
        return int(node.value)
    assert isinstance(node, ast.BinOp), ast.dump(node)
    return OPERATORS[type(node.op)](_value(node.left), _value(node.right))
