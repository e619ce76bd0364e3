/**
 * What checks say, in Chinese. A check without an objection says so by its name. `{rest}` is what follows the colon in
 * the server's sentence: a person's own words.
 */
export const checkMessages: Readonly<Record<string, string>> = {
  passes_agent: "智能体存在，并有岗位。",
  passes_freeze: "智能体未被冻结。",
  passes_configuration: "工具已启用。",
  passes_pin: "工具的定义已被信任。",
  passes_group: "岗位拥有包含此工具的工具组。",
  passes_role: "工具对其岗位开放。",
  passes_department: "工具对其部门开放。",
  passes_level: "级别符合要求。",
  passes_parent: "上级智能体同样可以使用此工具。",
  passes_dependency: "所需的其他工具均可用。",
  passes_limit: "未达到调用限额。",
  passes_rule: "没有规则针对此智能体和此工具。",
  passes_mode: "会话模式没有异议。",
  passes_guard: "守卫没有异议。",
  passes_grant: "没有记住的答复。",
  passes_confirmation: "调用没有要求确认。",
  agent_frozen: "智能体 {agent} 已被 {by} 冻结。",
  role_made_by_agent: "岗位 {role} 不在允许的岗位之列：它由智能体创建。",
  dependency_not_registered: "工具 {tool} 需要 {needs}，但它尚未注册，因此暂不可用。",
  edits_mode: "会话处于编辑模式，修改工作区无需询问。",
  remembered_yes: "{by} 曾同意，并已记住：{why}",
  remembered_no: "{by} 曾拒绝，并已记住：{why}",
  rule_denies: "有规则拒绝：{rest}",
  rule_asks: "有规则要求先询问人：{rest}",
  rule_holds_result: "有规则要求扣留结果：{rest}",
  rule_allows: "有规则允许：{rest}",
  invalid_arguments: "输入不正确：{rest}",
}
