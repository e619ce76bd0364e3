import { printable } from "../../../src/lib/printable.ts"
import type { Language } from "../words/words.tsx"

const kinds = { tool: "工具", group: "分组", role: "岗位", department: "部门", agent: "智能体" } as const

/** The sentences of `src/policy/rules`, piece by piece. What is not here stays as the server said it. */
const pieces: readonly (readonly [sentence: RegExp, chinese: string])[] = [
  ...Object.entries(kinds).map(
    ([kind, chinese]) => [new RegExp(`There is no ${kind} '([^']*)'\\.`), `没有${chinese}“$1”。`] as const,
  ),
  [/ Did you mean '([^']*)'\?/, "是不是“$1”？"],
  [/ A tool of the MCP server '([^']*)' is written '([^']*)'\./, "MCP 服务器“$1”的工具写作“$2”。"],
  [/No tool has a name that fits '([^']*)'\./, "没有名称符合“$1”的工具。"],
  [/No tool is in '([^']*)'\./, "“$1”中没有工具。"],
  [/None of the tools '([^']*)' stands for has the effect (.+)\./, "“$1”所指的工具都没有 $2 这一作用。"],
  [
    /Role '([^']*)' was made by an agent, and no rule counts for such a role\. Name the agent instead\./,
    "岗位“$1”由智能体创建，规则对此类岗位不生效。请改写智能体的名称。",
  ],
  [
    /It can never hold: none of the tools '([^']*)' stands for says what it touches\./,
    "它永远不会成立：“$1”所指的工具都不说明涉及范围。",
  ],
  [
    /Its exception never applies: none of the tools '([^']*)' stands for says what it touches\./,
    "其例外永远不适用：“$1”所指的工具都不说明涉及范围。",
  ],
  [
    /It can never hold: no tool it is about has a parameter for '([^']*)'\./,
    "它永远不会成立：所涉工具都没有参数“$1”。",
  ],
  [/It says the same as the rule at (.+)\. Remove one of them\./, "它与 $1 处的规则相同。请删除其中一条。"],
  [
    /It never decides: the rule at (.+?) (?:always )?(?:denies|asks|allows|decides)\b.*\. Remove it, or narrow that one\./,
    "它永远不作决定：$1 处的规则总是先行决定。请删除它，或收窄那一条。",
  ],
  [
    /'([^']*)' of (\S+) is a number, and the rule compares it with a text pattern: 1e21 is a number too\. Write a condition instead, such as (.+)\./,
    "$2 的“$1”是数字，而规则用文字样式与之比较：1e21 也是数字。请改写为条件，例如 $3。",
  ],
  [/'because' is missing\. Add it\./, "缺少 because。请补上。"],
  [/'([^']*)' is not right: /, "“$1”不正确："],
]

/** Describes the flaw of a rule, in a language. */
export function flawText(sentence: string, language: Language): string {
  if (language === "en") return printable(sentence)
  return printable(pieces.reduce((text, [piece, chinese]) => text.replace(piece, chinese), sentence))
}
