import { builtinGroups } from "./builtin-groups.ts"
import type { Language } from "../core/language.ts"
import { silentLogger, type Logger } from "../core/logger.ts"
import type { JsonSchema } from "../core/schema.ts"

/** A tool as models see it. `parameters` may be a getter, so pass definitions on and do not copy them. */
export interface ToolDefinition {
  readonly type: "function"
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema }
}

/** A group to register. Of two tools with the same name the first is used; a tool without a name is ignored. */
export interface ToolGroupDefinition {
  readonly description: string
  readonly tools: readonly ToolDefinition[]
}

export interface ToolGroup extends ToolGroupDefinition {
  readonly id: string
  readonly toolCount: number
  readonly isReserved: boolean
  /** ISO 8601. It does not change when only the tools change. */
  readonly registeredAt: string
}

/** A group in `listGroups`, with the names of its tools. */
export interface ToolGroupRow {
  readonly id: string
  readonly description: string
  readonly toolCount: number
  readonly tools: string[]
  readonly isReserved: boolean
}

export interface GroupResult {
  ok: boolean
  error?:
    | "reserved_group_id"
    | "invalid_group_def"
    | "cannot_unregister_reserved"
    | "group_not_found"
    | "tool_not_found"
  warning?: "duplicate_group_id"
}

export type GroupChange = "registered" | "updated" | "unregistered"

export interface ToolGroupOptions {
  logger?: Logger
  registerBuiltins?: boolean
  /** The language of the built-in groups' descriptions; English when left out. */
  language?: Language
  /** Called after each change, except for the built-in groups. */
  onChange?: (groupId: string, change: GroupChange) => void
}

interface StoredGroup {
  readonly id: string
  readonly description: string
  readonly tools: Map<string, ToolDefinition>
  readonly isReserved: boolean
  readonly registeredAt: string
}

/**
 * Groups of tools. A role names the groups whose tools its agents may use; a tool may be in several groups. Changes never
 * throw: they return `{ ok: false, error }` and change nothing.
 */
export class ToolGroupManager {
  readonly #groups = new Map<string, StoredGroup>()
  /** The groups of each tool; the one that defined it last comes last. */
  readonly #owners = new Map<string, string[]>()
  readonly #logger: Logger
  readonly #onChange: ToolGroupOptions["onChange"]
  #version = 0

  constructor(options: ToolGroupOptions = {}) {
    this.#logger = options.logger ?? silentLogger
    if (options.registerBuiltins ?? true) {
      for (const [id, description] of builtinGroups)
        this.registerGroup(id, { description: description[options.language ?? "en"], tools: [] }, true)
    }
    this.#onChange = options.onChange
  }

  /** Grows with every change. */
  get version(): number {
    return this.#version
  }

  /** Adds a group. Reserved ids are refused; any other existing group is replaced with a warning. */
  registerGroup(groupId: string, definition: ToolGroupDefinition, isReserved = false): GroupResult {
    if (this.isReservedGroup(groupId)) return { ok: false, error: "reserved_group_id" }
    const read = isName(groupId) ? readDefinition(definition) : undefined
    if (read === undefined) return { ok: false, error: "invalid_group_def" }

    const previous = this.#groups.get(groupId)
    if (previous !== undefined) {
      this.#logger.warn("A tool group with this id exists and is replaced. Give each group its own id.", { groupId })
      this.#disown(previous)
    }
    this.#fill(this.#create(groupId, read.description, isReserved), read)
    this.#changed(groupId, "registered")
    return previous === undefined ? { ok: true } : { ok: true, warning: "duplicate_group_id" }
  }

  unregisterGroup(groupId: string): GroupResult {
    const group = this.#groups.get(groupId)
    if (group === undefined) return { ok: false, error: "group_not_found" }
    if (group.isReserved) return { ok: false, error: "cannot_unregister_reserved" }
    this.#disown(group)
    this.#groups.delete(groupId)
    this.#changed(groupId, "unregistered")
    return { ok: true }
  }

  /** Replaces all tools of a group, reserved or not. */
  updateGroupTools(groupId: string, tools: readonly ToolDefinition[]): GroupResult {
    const group = this.#groups.get(groupId)
    if (group === undefined) return { ok: false, error: "group_not_found" }
    const read = readDefinition({ description: group.description, tools })
    if (read === undefined) return { ok: false, error: "invalid_group_def" }
    this.#disown(group)
    this.#fill(group, read)
    this.#changed(groupId, "updated")
    return { ok: true }
  }

  /** Adds a tool or replaces the one of the same name. Creates the group if it does not exist. */
  addTool(groupId: string, definition: ToolDefinition): GroupResult {
    const name = isName(groupId) ? readName(definition) : undefined
    if (name === undefined) return { ok: false, error: "invalid_group_def" }
    const existing = this.#groups.get(groupId)
    const group = existing ?? this.#create(groupId, "", false)
    if (group.tools.has(name)) this.#disownTool(groupId, name)
    this.#own(group, name, definition)
    this.#changed(groupId, existing === undefined ? "registered" : "updated")
    return { ok: true }
  }

  /** Removes a tool from a group. The group stays, even when it is empty. */
  removeTool(groupId: string, toolName: string): GroupResult {
    const group = this.#groups.get(groupId)
    if (group === undefined) return { ok: false, error: "group_not_found" }
    if (!group.tools.delete(toolName)) return { ok: false, error: "tool_not_found" }
    this.#disownTool(groupId, toolName)
    this.#changed(groupId, "updated")
    return { ok: true }
  }

  /** The tools of all these groups. A name that is in several groups is taken from the first of them. */
  getToolDefinitions(groupIds: readonly string[]): ToolDefinition[] {
    const merged = new Map<string, ToolDefinition>()
    for (const groupId of groupIds) {
      const group = this.#groups.get(groupId)
      if (group === undefined) {
        this.#logger.warn("There is no tool group with this id.", { groupId })
        continue
      }
      for (const [name, definition] of group.tools) if (!merged.has(name)) merged.set(name, definition)
    }
    return [...merged.values()]
  }

  listGroups(): ToolGroupRow[] {
    return Array.from(this.#groups.values(), ({ id, description, tools, isReserved }) => {
      return { id, description, toolCount: tools.size, tools: [...tools.keys()], isReserved }
    })
  }

  getGroup(groupId: string): ToolGroup | null {
    const group = this.#groups.get(groupId)
    return group === undefined ? null : { ...group, tools: [...group.tools.values()], toolCount: group.tools.size }
  }

  /** The group that defined the tool last. When that group removes it, the group before. */
  getToolGroup(toolName: string): string | null {
    return this.#owners.get(toolName)?.at(-1) ?? null
  }

  /** True when any of these groups has the tool. */
  isToolInGroups(toolName: string, groupIds: readonly string[]): boolean {
    return groupIds.some((groupId) => this.#groups.get(groupId)?.tools.has(toolName) === true)
  }

  getAllGroupIds(): string[] {
    return [...this.#groups.keys()]
  }

  hasGroup(groupId: string): boolean {
    return this.#groups.has(groupId)
  }

  isReservedGroup(groupId: string): boolean {
    return this.#groups.get(groupId)?.isReserved === true
  }

  getGroupCount(): number {
    return this.#groups.size
  }

  getAllToolNames(): string[] {
    return [...this.#owners.keys()]
  }

  /** The names of one group's tools. Empty when there is no such group. */
  toolNamesOf(groupId: string): Iterable<string> {
    return this.#groups.get(groupId)?.tools.keys() ?? []
  }

  #create(id: string, description: string, isReserved: boolean): StoredGroup {
    const group = { id, description, tools: new Map(), isReserved, registeredAt: new Date().toISOString() }
    this.#groups.set(id, group)
    return group
  }

  #fill(group: StoredGroup, { tools, nameless }: ReadDefinition): void {
    for (const [name, definition] of tools) this.#own(group, name, definition)
    if (nameless === 0) return
    this.#logger.warn("Tools without a function.name were left out. Name them.", { groupId: group.id, nameless })
  }

  #own(group: StoredGroup, name: string, definition: ToolDefinition): void {
    group.tools.set(name, definition)
    const owners = this.#owners.get(name)
    if (owners === undefined) this.#owners.set(name, [group.id])
    else owners.push(group.id)
  }

  #disown(group: StoredGroup): void {
    for (const name of group.tools.keys()) this.#disownTool(group.id, name)
    group.tools.clear()
  }

  #disownTool(groupId: string, name: string): void {
    const owners = this.#owners.get(name) ?? []
    owners.splice(owners.indexOf(groupId), 1)
    if (owners.length === 0) this.#owners.delete(name)
  }

  #changed(groupId: string, change: GroupChange): void {
    this.#version += 1
    try {
      this.#onChange?.(groupId, change)
    } catch (error) {
      this.#logger.error("A listener to tool group changes failed; the change itself stands.", { groupId, error })
    }
  }
}

interface ReadDefinition {
  description: string
  tools: Map<string, ToolDefinition>
  nameless: number
}

/** Reads a definition completely before anything is changed. Undefined when it is malformed. */
function readDefinition(given: unknown): ReadDefinition | undefined {
  try {
    if (typeof given !== "object" || given === null) return undefined
    const { description, tools: listed } = given as { description?: unknown; tools?: unknown }
    if (!Array.isArray(listed) || typeof (description ?? "") !== "string") return undefined
    const read: ReadDefinition = { description: (description ?? "") as string, tools: new Map(), nameless: 0 }
    for (const definition of listed as ToolDefinition[]) {
      const name = readName(definition)
      if (name === undefined) read.nameless += 1
      else if (!read.tools.has(name)) read.tools.set(name, definition)
    }
    return read
  } catch {
    return undefined
  }
}

function readName(definition: ToolDefinition | undefined): string | undefined {
  try {
    const name: unknown = definition?.function?.name
    return isName(name) ? name : undefined
  } catch {
    return undefined
  }
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== ""
}
