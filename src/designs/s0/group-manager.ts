import { builtinGroups } from "../../registry/builtin-groups.ts"
import {
  ToolGroupManager as CoreGroups,
  type GroupResult,
  type ToolDefinition,
  type ToolGroup as CoreGroup,
  type ToolGroupRow,
} from "../../registry/groups.ts"
import { completeLogger, createNoopModuleLogger, type ModuleLogger } from "./logger.ts"

/** A group as S0 writes it: it need not say how many tools it has. */
export type ToolGroup = Omit<CoreGroup, "toolCount"> & Partial<Pick<CoreGroup, "toolCount">>

/** A group to register. A tool may be a bare name, as in `BUILTIN_TOOL_GROUPS`. */
export interface GroupDefinition {
  description?: string
  tools: readonly (ToolDefinition | string)[]
}

export interface ToolGroupManagerOptions {
  logger?: ModuleLogger
  /** True: begins with the built-in groups, still without tools. */
  registerBuiltins?: boolean
  /** The groups of an app, `app.groups`. Left out: the manager has groups of its own and starts empty. */
  groups?: CoreGroups
}

/**
 * S0's tool group manager. It starts empty and describes the built-in groups in S0's words.
 *
 * ```ts
 * const manager = new ToolGroupManager()
 * manager.registerGroup("chrome", { description: "Chrome 浏览器控制工具", tools: [definition] })
 * ```
 */
export class ToolGroupManager {
  readonly log: ModuleLogger
  #groups: CoreGroups

  constructor({ logger, groups, registerBuiltins = false }: ToolGroupManagerOptions = {}) {
    this.log = logger ?? createNoopModuleLogger()
    this.#groups = groups ?? new CoreGroups({ logger: completeLogger(this.log), registerBuiltins })
  }

  /** Makes a manager that was made before its app speak for the groups of the app. */
  static connect(manager: ToolGroupManager, groups: CoreGroups): void {
    const before = manager.#groups
    manager.#groups = groups
    for (const { id } of before.listGroups()) {
      const { description, tools, isReserved } = before.getGroup(id)!
      groups.registerGroup(id, { description, tools }, isReserved)
    }
  }

  registerGroup(groupId: string, groupDef: GroupDefinition, isReserved = false): GroupResult {
    return this.#groups.registerGroup(groupId, withDefinitions(groupDef) as never, isReserved)
  }

  unregisterGroup(groupId: string): GroupResult {
    return this.#groups.unregisterGroup(groupId)
  }

  updateGroupTools(groupId: string, tools: GroupDefinition["tools"]): GroupResult {
    return this.#groups.updateGroupTools(groupId, Array.isArray(tools) ? tools.map(definitionOf) : (tools as never))
  }

  getToolDefinitions(groupIds: readonly string[]): ToolDefinition[] {
    return this.#groups.getToolDefinitions(groupIds)
  }

  listGroups(): ToolGroupRow[] {
    return this.#groups.listGroups().map(inChinese)
  }

  getGroup(groupId: string): ToolGroup | null {
    const group = this.#groups.getGroup(groupId)
    return group && inChinese(group)
  }

  getToolGroup(toolName: string): string | null {
    return this.#groups.getToolGroup(toolName)
  }

  isToolInGroups(toolName: string, groupIds: readonly string[]): boolean {
    return this.#groups.isToolInGroups(toolName, groupIds)
  }

  getAllGroupIds(): string[] {
    return this.#groups.getAllGroupIds()
  }

  hasGroup(groupId: string): boolean {
    return this.#groups.hasGroup(groupId)
  }

  isReservedGroup(groupId: string): boolean {
    return this.#groups.isReservedGroup(groupId)
  }

  getGroupCount(): number {
    return this.#groups.getGroupCount()
  }

  getAllToolNames(): string[] {
    return this.#groups.getAllToolNames()
  }

  /** A copy of what S0 keeps in this field. */
  get _groups(): Map<string, ToolGroup> {
    return new Map(this.getAllGroupIds().map((id) => [id, this.getGroup(id)!]))
  }

  /** A copy of what S0 keeps in this field. */
  get _toolToGroup(): Map<string, string> {
    return new Map(this.getAllToolNames().map((name) => [name, this.getToolGroup(name)!]))
  }

  /** A copy of what S0 keeps in this field. */
  get _reservedGroupIds(): Set<string> {
    return new Set(this.getAllGroupIds().filter((id) => this.isReservedGroup(id)))
  }
}

/** The manager checks the rest: what is not a group stays as it is. */
function withDefinitions(given: GroupDefinition): unknown {
  const tools: unknown = (given as GroupDefinition | undefined)?.tools
  return Array.isArray(tools) ? { ...given, tools: tools.map(definitionOf) } : given
}

function definitionOf(tool: ToolDefinition | string): ToolDefinition {
  if (typeof tool !== "string") return tool
  const parameters = { type: "object", properties: {} }
  return { type: "function", function: { name: tool, description: "", parameters } }
}

const chinese = new Map<string, string>(builtinGroups.map(([id, { en, zh }]) => [`${id} ${en}`, zh]))

/** The group with S0's description, where it has the English one of a built-in group. */
function inChinese<Group extends { id: string; description: string }>(group: Group): Group {
  const description = chinese.get(`${group.id} ${group.description}`)
  return description === undefined ? group : { ...group, description }
}
