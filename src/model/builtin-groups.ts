/** The groups there always are. Nobody else may give a group one of these ids. */
export const builtinGroups = [
  ["org_management", "组织管理工具"],
  ["artifact", "工件管理工具"],
  ["workspace", "工作空间工具"],
  ["command", "命令执行工具"],
  ["network", "网络工具"],
  ["context", "上下文管理工具"],
  ["console", "控制台工具"],
  ["code", "代码工具"],
  ["data", "数据处理工具"],
  ["system", "系统工具"],
  ["interaction", "交互工具"],
  ["todo", "任务清单工具"],
  ["pipeline", "流水线工具"],
] as const
