import type { RegisteredTool } from "../../core/tool.ts"
import { defineCheck, deny, type VisibleFacts } from "../check.ts"
import { listed, whyFix } from "../fix-text.ts"

/** The tools that this one needs are registered, and visible to the agent. */
export const dependencyCheck = defineCheck({
  name: "dependency",
  stage: "visible",
  source: ({ tool }) => tool.id,
  look(facts) {
    const { name, dependsOn, missingDependencies = [], sameNameTools } = facts.tool
    if (missingDependencies.length > 0) return notRegistered(name, [...new Set(missingDependencies)])
    if (!dependsOn?.length && sameNameTools === undefined) return undefined
    return hiddenNeed(facts)
  },
  sentences: {
    dependency_not_registered: {
      en: ({ tool, needs }: { tool: string; needs: string }) =>
        `Tool ${tool} needs ${needs}, which nobody has registered. It is off until then.`,
      zh: "工具 {tool} 需要 {needs}，但它尚未注册，因此暂不可用。",
    },
    dependency_not_allowed: {
      en: ({ tool, needs, sentence }: { tool: string; needs: string; sentence: string }) =>
        `Tool ${tool} needs ${needs}, which this agent may not use: ${sentence}`,
      zh: "工具 {tool} 需要 {needs}，但此智能体不可使用它：{rest}",
    },
  },
  passes: {
    en: ({ tool: { dependsOn = [] } }) =>
      dependsOn.length === 0 ? undefined : `The agent has what the tool needs: ${dependsOn.join(", ")}.`,
    zh: "所需的其他工具均可用。",
  },
})

function notRegistered(tool: string, missing: readonly string[]) {
  const needs = missing.join(", ")
  const fix = () => `Load the plugin, module or server that has ${listed(missing)}`
  return deny("dependency_not_registered", { tool, needs }, { fix })
}

/** The first tool it needs that the agent may not use. */
function hiddenNeed({ tool, who, tools, hides }: VisibleFacts) {
  if (tools.resolve === undefined) return undefined
  for (const needs of needsOf(tool)) {
    const needed = tools.resolve(needs, who)
    const { code, sentence, fix } = needed === undefined ? onlyForOthers : (whyHidden(hides(needed)) ?? {})
    if (code === undefined || sentence === undefined) continue
    const params = { tool: tool.name, needs, because: code }
    return deny("dependency_not_allowed", params, {
      words: { sentence },
      fix: () => fix?.() ?? whyFix(needs, who.agent.id),
    })
  }
  return undefined
}

function needsOf(tool: RegisteredTool): Set<string> {
  return new Set([tool, ...(tool.sameNameTools ?? [])].flatMap(({ dependsOn = [] }) => dependsOn))
}

const onlyForOthers = {
  code: "dependency_for_others",
  sentence: "it is provided for others only.",
  fix: undefined,
}

function whyHidden(denial: ReturnType<VisibleFacts["hides"]>) {
  return denial && { code: denial.reason.code, sentence: denial.reason.sentence, fix: denial.fix }
}
