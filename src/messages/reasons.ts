/**
 * The reasons of rules, remembered answers and the lifecycle, in Chinese. `{rest}` is what follows the colon in the server's
 * sentence: a person's own words. The reasons of checks stand in the files of the checks.
 */
export const reasonMessages: Readonly<Record<string, string>> = {
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
  passes_grant: "没有记住的答复。",
  rule_denies: "有规则拒绝：{rest}",
  rule_asks: "有规则要求先询问人：{rest}",
  rule_holds_result: "有规则要求扣留结果：{rest}",
  rule_allows: "有规则允许：{rest}",
  invalid_arguments: "输入不正确：{rest}",
}
