import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { AgentView } from "../../core/organisation.ts"
import { type Tool, type ToolSpec } from "../../core/tool.ts"
import { ToolGroupManager } from "../groups.ts"
import { ToolRegistry, type RegistryOptions } from "../registry.ts"

export const makeTool = (name: string, rest: Partial<ToolSpec> = {}): Tool =>
  defineTool({
    name,
    description: `Does ${name}.`,
    group: "test",
    input: z.object({}),
    execute: () => rest.version,
    ...rest,
  })

export const emptyRegistry = (options: RegistryOptions = {}) =>
  new ToolRegistry({ groups: new ToolGroupManager({ registerBuiltins: false }), ...options })

export const listNames = (tools: Iterable<{ name: string }>) => Array.from(tools, (tool) => tool.name)

interface Who {
  id?: string
  department?: string
  groups?: readonly string[] | null
  pins?: Readonly<Record<string, string>>
}

export function agent({ id = "ada", department, groups = null, pins = {} }: Who = {}): AgentView {
  const role = {
    id: "r",
    name: "developer",
    rolePrompt: "",
    createdBy: "root",
    madeBy: "person",
    createdAt: "",
    status: "active",
    llmServiceId: null,
    toolGroups: groups,
  } as const
  const made = { createdBy: "root", madeBy: "person", createdAt: "" } as const
  const agent = { ...made, id, roleId: "r", level: 0, status: "active" } as const
  return { agent, role, department, level: 0, groups, pins, ancestors: [] }
}
