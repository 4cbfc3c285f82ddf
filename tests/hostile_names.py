"""Names and texts that mean more than themselves to some reader of what we write."""

from __future__ import annotations

HOSTILE = [
    'it\'s "quoted"',
    "<script>&amp;</script>",
    "a]]>b<![CDATA[c]]>",
    "two\nlines",
    "three\r\nlines\rof text",
    "\x1b[31mred\x1b[0m\a\0",
    "| a | b |",
    "`code` ``more``",
    "@everyone #1 a@b.example",
    "**bold** _it_ [x](y) ![z](w) ~~no~~ <!-- c --> $m$ https://e.example",
    "::error file=x,line=1::got you\n::set-output name=a::b",
    "100%25, a:b,c=d",
    "Ω≠ß 日本語 🦀 \u202e\u2028",
    "\udc80 \udcff \ufffe \uffff \x7f \x85",
    "x" * 200,
    "  ",
    "\\",
    "</details></td></table>",
    "../a b/c#d?e",
    "C:\\x",
]
