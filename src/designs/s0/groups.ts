/** The built-in groups as S0 lists them. The app has these tools in these groups, and more. */
export const BUILTIN_TOOL_GROUPS = {
  org_management: {
    description: "组织管理工具",
    tools: [
      "find_role_by_name",
      "create_role",
      "spawn_agent",
      "spawn_agent_with_task",
      "terminate_agent",
      "send_message",
    ],
  },
  artifact: { description: "工件管理工具", tools: ["put_artifact", "get_artifact"] },
  workspace: { description: "工作空间工具", tools: ["read_file", "write_file", "list_files", "get_workspace_info"] },
  command: { description: "命令执行工具", tools: ["run_command", "run_javascript"] },
  network: { description: "网络工具", tools: ["http_request"] },
  context: { description: "上下文管理工具", tools: ["compress_context", "get_context_status"] },
  console: { description: "控制台工具", tools: ["console_print"] },
}
