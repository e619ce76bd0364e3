import { defineCheck, deny } from "../check.ts"

/** `tools.enabled` names the tool. A tool that is off because it lacks another one is left to the dependency check. */
export const enabledCheck = defineCheck({
  name: "configuration",
  stage: "visible",
  source: () => "tools.enabled",
  look: ({ tool: { name, enabled, missingDependencies = [] } }) =>
    enabled || missingDependencies.length > 0
      ? undefined
      : deny("tool_switched_off", { tool: name }, { fix: () => `Add ${name} to tools.enabled` }),
  sentences: {
    tool_switched_off: {
      en: ({ tool }: { tool: string }) => `Tool ${tool} is switched off. Add it to tools.enabled to use it.`,
      zh: "工具 {tool} 已关闭。",
    },
  },
  passes: { en: () => "The tool is switched on.", zh: "工具已启用。" },
})
