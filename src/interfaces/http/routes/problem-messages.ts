import type { EndingCode } from "../../../core/result.ts"

/**
 * Problems that people meet in the console, in Chinese, by `problem_` and their code. `{quoted}` is the first name in
 * quotes in the server's sentence, `{text}` all of it. What is missing is said in English.
 */
export const problemMessages: Readonly<Record<string, string>> = {
  problem_no_connection: "服务器没有应答。请确认 qm serve 正在运行，地址也正确。",
  problem_not_signed_in: "尚未登录。请用 qm open 打印的链接登录。",
  problem_token_expired: "令牌已过期。请人创建一个新的。",
  problem_conversation_ended: "这个对话已经结束。请开始一个新的。",
  problem_conversation_paused: "这个对话已暂停。请先让它继续。",
  problem_bad_link: "这个链接已经用过、已过期，或从未有效。请运行 qm open 获取新链接。",
  problem_bad_person_token:
    "这不是某个人的令牌，或者它已过期、已撤销。请向运行 Quartermaster 的人索取新令牌。智能体的令牌（qma_…）供程序使用。",
  problem_too_many_tries: "尝试的链接或令牌太多了。请等一分钟。",
  problem_missing_scope: "您没有所需的权限[“{scope}”]。请人在 org.people 中给予它。",
  problem_not_found: "没有[{what}“{id}”]这一项。",
  problem_no_such_path: "这个地址什么也没有。",
  problem_invalid_request: "[“{field}”]填写得不正确。请改正后再试。",
  problem_body_too_long: "内容超过 {max} 字节。请缩短，或调高 server.maxBodyBytes。",
  problem_changed: "调用在您答复时发生了变化。请看新修订，再答复一次。",
  problem_answered: "已经有人答复过了。",
  problem_expired: "没有人及时答复，它已过期。",
  problem_ended: "它不再等待答复。",
  problem_not_counted: "您的答复没有计入：{text}",
  problem_bad_rule: "这条规则不能使用：{text}",
  problem_not_trusted: "没有信任任何定义：服务器现在提供的与您看到的不同。请重新查看。",
  problem_simulation_runs: "另一个模拟正在进行。请等它结束后再试。",
  problem_too_much_work: "这需要的时间太长。请缩短模式或示例中的文本，减少规则，或用更晚的 since 查看更少的调用。",
  problem_not_your_grant: "这个答复是 {by} 给出的。只有他们或有管理权限的人可以撤销。",
  problem_manager_agent: "{agent} 能修改组织，只有有管理权限的人可以以它的身份调用或给它写消息。",
  problem_result_not_kept: "这次调用的结果已不再保留。审计日志中有它的记录。",
  problem_missing_agent: "请先选择以哪个智能体调用。",
  problem_other_model: "智能体使用其岗位的模型。请省略 model，或由人来开始对话。",
  problem_store_unavailable: "数据存储暂时不可用。请稍后再试。",
  problem_internal: "这是 Quartermaster 的错误，请报告：{rest}",
  problem_person_exists: "短名“{quoted}”已属于某个人或智能体。请另选一个。",
  problem_person_not_found: "没有名为“{quoted}”的人。",
  problem_agent_not_found: "没有名为“{quoted}”的智能体，或它已结束。",
  problem_invalid_person_id: "短名要用 1 到 100 个字母、数字和 _ . : - 组成。",
  problem_invalid_person_name: "名字要有 1 到 200 个可见字符，首尾没有空格，也没有不可见字符。",
  problem_invalid_lifetime: "令牌的有效期必须大于 0。",
  problem_name_taken: "名称“{quoted}”已被使用。请另选一个。",
  problem_conflict: "其他进程正在修改同一项。请再试一次。",
  problem_read_only: "它写在配置文件中，只能在那里修改。",
  problem_mode_not_yours: "只有有管理权限的人，或开始这个对话的人，可以设置编辑模式或结束计划模式。",
  problem_plan_in_force: "智能体“{quoted}”处于计划模式。请先结束它。",
  problem_person_required: "只有人可以这样做。",
}

/** How a call ended, in Chinese, by `ended_` and its code. What a tool itself said stays as it is. */
export const endingMessages = {
  ended_unknown_tool: "没有这个工具。",
  ended_invalid_arguments: "输入不正确。",
  ended_key_conflict: "这个键已用于另一次调用。",
  ended_timeout: "工具没有在时限内结束，已被中止。",
  ended_aborted: "调用被中止了。",
  ended_tool_failed: "{text}",
  ended_output_invalid: "工具返回的结果与它的结构定义不符。",
  ended_interrupted: "运行它的进程结束了，或另一个进程接手了这次调用。审计日志中有记录。",
  ended_record_unavailable: "审计日志暂时无法写入，因此没有运行。",
  ended_upstream_unavailable: "提供这个工具的服务器暂时无法访问。",
  ended_tool_not_available: "这个智能体不能使用此工具，理由见检查。",
  ended_permission_denied: "调用被拒绝，理由见检查。",
  ended_path_outside_workspace: "路径在工作区之外，理由见检查。",
  ended_command_denied: "命令被禁止，理由见检查。",
  ended_host_denied: "主机被禁止，理由见检查。",
  ended_rate_limited: "已达到调用限额。",
  ended_frozen: "智能体已被冻结。",
  ended_approval_rejected: "有人拒绝了这次调用。",
  ended_approval_expired: "没有人及时答复。",
  ended_result_withheld: "有人扣留了结果。",
} satisfies Record<`ended_${EndingCode}`, string>

/** Values of the server's sentences that are words and not names. */
export const phrases: Readonly<Record<string, string>> = {
  conversation: "对话",
  agent: "智能体",
  person: "人员",
  "MCP server": "MCP 服务器",
  call: "调用",
  "waiting call": "等待中的调用",
  tool: "工具",
  artifact: "附件",
  "stored rule": "规则",
  "remembered answer": "记住的答复",
  token: "令牌",
  Changed: "已修改",
  Released: "已放行",
  Withheld: "已扣留",
  Rejected: "已拒绝",
  Answered: "已回答",
  Approved: "已批准",
  "the workspace": "工作区",
  "tools.shell.sandbox is off": "tools.shell.sandbox 为 off",
  "the sandbox works only on Linux": "沙箱只能在 Linux 上使用",
  "bubblewrap is not installed (Debian and Ubuntu: apt install bubblewrap)":
    "没有安装 bubblewrap（Debian 和 Ubuntu：apt install bubblewrap）",
}

/** The same with a value of their own. */
export const phrasePatterns: readonly (readonly [pattern: RegExp, chinese: string])[] = [
  [/^bubblewrap does not work here \((.*)\)$/s, "bubblewrap 在此不可用（$1）"],
  [/^the sandbox cannot block sockets on this processor \((.*)\)$/, "沙箱无法在此处理器上阻止网络连接（$1）"],
]
