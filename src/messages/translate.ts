import type { ReasonParams as Params } from "../core/reason.ts"
import { checkMessages } from "./reasons.ts"
import { guardMessages } from "./guards.ts"
import { endingMessages, phrasePatterns, phrases, problemMessages } from "./problems.ts"

/** A sentence for people, as the API has it. */
interface Said {
  code: string
  params?: Params | undefined
  text: string
}

/** Sentences of the server by their code, with `{name}` for its values. What is missing is said in English. */
export const chinese: Readonly<Record<string, string>> = {
  ...checkMessages,
  ...guardMessages,
  ...problemMessages,
  ...endingMessages,
  title_question: "{agent} 提问",
  title_server_question: "MCP 服务器 {server} 在 {agent} 的调用中提问；回答会发给该服务器",
  title_release: "向 {agent} 放行 {tool} 的结果",
  title_commands: "运行 {count} 条命令",
  title_commands_network: "运行 {count} 条命令，使用网络",
  title_request: "向 {host} 发送 {method} 请求",
  title_delete: "删除 {path}",
  title_delete_several: "删除 {count} 个文件",
  title_change: "修改 {path}",
  title_change_several: "修改 {count} 个文件",
  title_read: "读取 {path}",
  title_read_several: "读取 {count} 个文件",
  title_database_change: "修改数据库 {database}",
  title_database_read: "读取数据库 {database}",
  title_call: "调用 {tool}",
  risk_deletes: "删除",
  risk_final: "无法撤销",
  risk_sends_out: "外发数据",
  risk_unproved: "未证实",
  risk_several_people: "{count} 人",
  risk_network: "网络",
  risk_writes: "写入",
  risk_executes: "执行",
  risk_confirmed_path: "须确认的路径",
  risk_new_host: "新主机",
  risk_communicates: "发送消息",
  risk_unknown_effect: "效果未知",
  risk_result_held: "结果待放行",
  answer_counted: "已计入，还需 {count} 人同意。",
  answer_call_again: "发起调用的进程已结束：请在 {within}内重新发起相同的调用，它会继续执行。",
  answer_fetch: "调用方在 {within}内取结果时，它会继续执行。",
  answer_agent: "“qm serve” 运行时，{agent} 会自行继续；否则请在 {within}内启动它。",
  answer_settled: "答复已计入：{verdict}。",
  answer_edited: "它会重新检查，并作为新修订在此等待。",
  answer_edited_later: "调用方在 {within}内回来时，它会重新检查，并作为新修订在此等待。",
  part_deletes: "删除 {files}。",
  part_deletes_found: "删除它找到的文件。",
  part_writes: "写入 {files}。",
  part_reads: "读取 {files}。",
  part_network: "可能使用网络。",
  part_sends_out: "可能向其他机器发送数据。",
  part_unproved: "无法确定它做什么：{because}。",
  detail_folder: "文件夹：{folder}",
  detail_variable: "变量：{variable}",
  detail_session_variable: "会话变量：{variable}",
  detail_input: "标准输入：{count} 个字符",
  detail_background: "在后台运行，直到结束或被停止",
  detail_time_limit: "时限：{milliseconds} 毫秒",
  detail_no_sandbox: "沙箱：无（{because}）。它拥有您自己的权限，并可访问网络。",
  detail_sandbox: "沙箱：bubblewrap。只能写入 {places}。",
  detail_sandbox_no_writes: "沙箱：bubblewrap。不能写入任何地方。",
  detail_sandbox_broken: "沙箱不可用：{text}",
  detail_network: "网络：全部开放。主机规则在命令内部不起作用。",
  detail_no_network: "网络：无",
  detail_mode_asks: "shell 模式“sandbox”在此等同于“ask”：{because}。",
  again_approved: "{by} 已批准第 {revision} 版。此后：",
  again_since: "自第 {revision} 版以来：",
  again_removed: "{by} 已被移出组织",
  again_releaser: "{by} 已放行它，此后被移出组织。",
  again_files: "{files} 已改变",
  again_more_files: "{files} 等 {count} 个文件已改变",
  again_tool: "工具 {tool} 已改变",
  again_input: "输入已改变",
  again_touches: "涉及的内容已改变",
  again_approvers: "须同意的人已改变",
  again_reason: "有新的询问理由",
  again_preview: "预览已改变",
  again_changed: "它已有所改变",
  again_unusable: "{by} 给出的输入不能使用：{rest}",
  again_restored: "它是从备份恢复的，先前的答复不再有效。",
  result_held: "{tool} 的结果须由人放行，模型才能看到。",
  call_changed: "将要运行的已不是当初批准的内容。",
  question: "这个工具要向人提问。",
  input_edited: "输入被编辑过，还没有人批准它。",
  "remember_input-session":
    "{agent} 在会话 {session} 内可在文件夹 {folder} 中用完全相同的输入调用 {tool}，无需询问，最多一天。",
  "remember_tool-session":
    "{agent} 在会话 {session} 内可在文件夹 {folder} 中调用 {tool}[，且不得超出：{touching}]，无需询问，最多一天。",
  remember_task:
    "{agent} 在任务 {task} 内可在文件夹 {folder} 中调用 {tool}[，且不得超出：{touching}]，无需询问，最多一天。",
  remember_minutes:
    "{agent} 在 {minutes} 分钟内可在文件夹 {folder} 中调用 {tool}[，且不得超出：{touching}]，无需询问。",
  "remember_tool-always":
    "{agent} 此后可在文件夹 {folder} 中调用 {tool}[，且不得超出：{touching}]，无需询问，直到有人撤销。",
  remember_by_rule: "同意不会被记住，因为 {tool} 属于敏感工具。可以用规则允许此类调用。",
  remember_sensitive: "不提供更大范围：{tool} 属于敏感工具，每次调用都须由人批准。",
  remember_binding: "不提供更大范围：有一条理由规定每次都问。",
  rule_offered: "{agent} 调用 {tool} 且仅涉及 {touching} 时，无需询问。",
  tool_sensitive: "工具 {tool} 属于敏感级别，每次调用都须由人批准。",
  tool_moderate: "工具 {tool} 属于中等级别，调用须由人批准。",
  tool_wants_approval: "工具 {tool} 被设置为运行前须批准。",
  touches_unproved: "无法证实 {tool} 的这次调用会涉及什么，因此先由人查看。",
  confirmation_wished: "调用本身要求确认。",
  plan_mode: "智能体处于计划模式，只有读取类工具可以运行。",
  tool_switched_off: "工具 {tool} 已关闭。",
  group_above_missing: "{agent} 的上级智能体没有工具组“{group}”，因此 {agent} 也没有。",
  group_missing: "岗位 {role} 没有包含此工具的工具组“{group}”。",
  group_not_registered: "此工具不属于任何工具组：“{group}”未注册或已不含此工具。",
  role_not_allowed: "岗位 {role} 不在允许的岗位之列。",
  department_not_allowed: "部门 {department} 不被允许。",
  level_below_minimum: "级别 {level} 低于最低要求 {limit}。",
  level_above_maximum: "级别 {level} 高于上限 {limit}。",
  agent_unknown: "此智能体不存在、已结束或没有岗位。",
}

/** Sentences in which the person chooses a value. The others are as the server wrote them. */
const english: Readonly<Record<string, string>> = {
  remember_minutes:
    "Agent {agent} may call {tool}[, touching no more than: {touching}] in the folder {folder}, for {minutes} minutes.",
}

const sentences = { en: english, zh: chinese }
const commas = { en: ", ", zh: "、" }

const touchKinds: Readonly<Record<string, string>> = {
  read: "读取",
  write: "写入",
  command: "运行",
  host: "访问",
  database: "数据库",
}

/** Says a message in a language. English is what the server wrote, but for what the person chooses. */
export function translate({ code, params = {}, text }: Said, language: "en" | "zh"): string {
  const sentence = sentences[language][code]
  if (sentence === undefined) return text
  const say = (name: string, value: Params[string] | undefined) => {
    const all: readonly (string | number)[] = typeof value === "object" ? value : [value ?? ""]
    const inLanguage = language === "en" ? String : name === "touching" ? touchInChinese : wordInChinese
    return all.map(inLanguage).join(commas[language])
  }
  // A value that the server did not send would leave a hole in the sentence.
  const values: Params = { ...wordsOf(text), ...withinOf(params), ...params }
  const isWhole = (part: string) =>
    [...part.matchAll(/\{(\w+)\}/g)].every(([, name]) => values[name ?? ""] !== undefined)
  const said = sentence.replaceAll(/\[([^\]]*)\]/g, (_, part: string) => (isWhole(part) ? part : ""))
  if (!isWhole(said)) return text
  return said.replaceAll(/\{(\w+)\}/g, (_, name: string) => say(name, values[name]))
}

/** A value that is a word and not a name. */
function wordInChinese(value: string | number): string {
  const known = phrases[value]
  return known ?? phrasePatterns.reduce((text, [pattern, said]) => text.replace(pattern, said), String(value))
}

/** "write notes.md" */
function touchInChinese(touch: string | number): string {
  return String(touch).replace(/^\w+(?= )/, (kind) => touchKinds[kind] ?? kind)
}

/** Why a call is asked about again: in English the note, in other languages its parts. */
export function translateNote(
  { note = "", again = [] }: { note?: string | undefined; again?: readonly Said[] | undefined },
  language: "en" | "zh",
): string {
  if (language === "en" || again.length === 0) return note
  const [first = "", ...changes] = again.map((part) => translate(part, language))
  return changes.length === 0 ? first : `${first}${changes.join("，")}。`
}

/** The server's own words inside its sentence: all of it, what follows the colon or "because", and what is quoted. */
function wordsOf(text: string): Params {
  const quoted = /'([^']+)'/.exec(text)?.[1]
  const rest = text.includes(": ") ? text.slice(text.indexOf(": ") + 2) : undefined
  const because = /\bbecause (.+?)(?:\.(?=\s|$)|$)/.exec(text)?.[1]
  return {
    text,
    ...(rest === undefined ? {} : { rest }),
    ...(because === undefined ? {} : { because }),
    ...(quoted === undefined ? {} : { quoted }),
  }
}

/** A number of minutes in the largest unit of which there are at least two. */
function withinOf({ minutes }: Params): Params {
  if (typeof minutes !== "number") return {}
  const hours = Math.floor(minutes / 60)
  const within = hours < 2 ? `${minutes} 分钟` : hours < 48 ? `${hours} 小时` : `${Math.floor(hours / 24)} 天`
  return { within }
}
