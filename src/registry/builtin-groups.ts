/** The built-in groups, with a description per language. Their ids are reserved: no other group may use them. */
export const builtinGroups = [
  ["org_management", { en: "Roles, agents and messages", zh: "组织管理工具" }],
  ["artifact", { en: "Stored artifacts", zh: "工件管理工具" }],
  ["workspace", { en: "Files in the workspace", zh: "工作空间工具" }],
  ["command", { en: "Shell commands and JavaScript", zh: "命令执行工具" }],
  ["network", { en: "HTTP requests and web search", zh: "网络工具" }],
  ["context", { en: "The model's context window", zh: "上下文管理工具" }],
  ["console", { en: "Output to the console", zh: "控制台工具" }],
  ["code", { en: "Code search and snippets", zh: "代码工具" }],
  ["databases", { en: "Databases", zh: "数据库工具" }],
  ["data", { en: "JSON and Base64", zh: "数据处理工具" }],
  ["system", { en: "Time, sleep and environment variables", zh: "系统工具" }],
  ["interaction", { en: "Questions to the user", zh: "交互工具" }],
  ["todo", { en: "Task lists", zh: "任务清单工具" }],
  ["undo", { en: "Putting back what a call changed", zh: "撤销调用的更改" }],
  ["clients", { en: "Tools that only coding agents have, decided on in their hooks", zh: "编程智能体自带的工具" }],
  ["pipeline", { en: "Pipelines of tool calls", zh: "流水线工具" }],
] as const
