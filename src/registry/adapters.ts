import { defineTool } from "../model/define-tool.ts"
import { messageOf } from "../model/message.ts"
import { checkParameters } from "../model/parameters.ts"
import type { RateLimit, ToolPermission, ToolPermissionLevel } from "../model/permission.ts"
import { otherwise, typeName } from "../model/problems.ts"
import type { Checked, JsonSchema, Schema, SchemaSource } from "../model/schema.ts"
import type { Tool, ToolCategory, ToolContext, ToolSpec } from "../model/tool.ts"
import { BaseTool } from "./base-tool.ts"
import { unwrapBaseResult, unwrapError, unwrapResult, unwrapStatus, type ResultLike } from "./foreign-results.ts"
import type { ToolDefinition } from "./groups.ts"
import { shorthandToJsonSchema, type Shorthand } from "./shorthand.ts"

type Foreign = "name" | "description" | "input" | "execute"

/** What a foreign tool does not say of itself. Without an effect it counts as sensitive. */
export type AdapterOptions = Omit<ToolSpec, Foreign>

/** S3: a `BaseTool`. Its own `validate` counts too; `dangerous` cannot be taken back by the options. */
export function fromBaseTool(tool: BaseTool, options: AdapterOptions): Tool {
  const { name, description } = tool
  const dangerous = tool.dangerous || options.permission?.dangerous === true
  return defineTool({
    ...options,
    name,
    description,
    permission: { ...options.permission, dangerous },
    input: baseToolSchema(tool),
    execute: async (input) => unwrapBaseResult(name, await tool.execute(input as Record<string, unknown>)),
  })
}

/** What a module's tool is told of its call, in S0's words. */
export interface ModuleContext extends Omit<ToolContext, "agent"> {
  /** `roleId` is the role's name: a tool is told no other. */
  readonly agent: ToolContext["agent"] & { readonly roleId: string }
}

/** S0's module: many tools behind one function. Whoever loads it calls `init` and `shutdown`. */
export interface ToolModule {
  readonly name: string
  readonly toolGroupId?: string | undefined
  readonly toolGroupDescription?: string | undefined
  getToolDefinitions(): readonly ToolDefinition[]
  /** A returned `{ error: "code", message? }` is a failure. */
  executeToolCall(context: ModuleContext, toolName: string, args: unknown): unknown
  init?(runtime: unknown, config: unknown): unknown
  shutdown?(): unknown
}

/** What holds for all tools of a module, and what differs for single ones. */
export interface ModuleOptions extends Omit<AdapterOptions, "group"> {
  readonly tools?: { readonly [name: string]: Omit<AdapterOptions, "group"> }
}

/** S0: every tool of a module, in the module's group. */
export function fromModule(module: ToolModule, { tools: single = {}, ...shared }: ModuleOptions = {}): Tool[] {
  const { id: group } = moduleGroup(module)
  return module.getToolDefinitions().map(({ function: { name, description, parameters } }) =>
    defineTool({
      ...shared,
      ...single[name],
      name,
      description,
      group,
      input: parameters ?? { type: "object", properties: {} },
      execute: async (input, context) =>
        unwrapError(name, await module.executeToolCall(moduleContext(context), name, input)),
    }),
  )
}

/** The group a module's tools are in. */
export function moduleGroup({ name, toolGroupId, toolGroupDescription }: ToolModule): {
  id: string
  description: string
} {
  return { id: toolGroupId ?? name, description: toolGroupDescription ?? `${name} 模块提供的工具` }
}

/** S2's permissions. Every field may be left out. */
interface HandlerPermissions {
  readonly allowedRoles?: readonly string[]
  readonly allowedDepartments?: readonly string[]
  readonly minLevel?: number
  readonly requireConfirmation?: boolean
  readonly isDangerous?: boolean
  readonly rateLimit?: RateLimit
}

/** S2's tool, with the group it lacks. Its schemas are JSON Schema or S2's shorthand. */
export interface HandlerTool extends Omit<AdapterOptions, "output" | "permission"> {
  name: string
  description: string
  category: ToolCategory
  inputSchema: JsonSchema | Shorthand
  outputSchema?: JsonSchema | Shorthand
  permissions?: HandlerPermissions
  /** What it returns is the result, as it is; it fails by throwing. */
  handler: (params: never, context: ToolContext) => unknown
}

/** S2: a tool with a `handler`. */
export function fromHandler(tool: HandlerTool): Tool {
  const { inputSchema, outputSchema, permissions = {}, handler: _, ...rest } = tool
  const { isDangerous, ...permission } = permissions
  return defineTool({
    ...rest,
    permission: { ...permission, dangerous: isDangerous },
    input: handlerSchema(inputSchema, true),
    ...(outputSchema === undefined ? {} : { output: handlerSchema(outputSchema, false) }),
    execute: (input, context) => tool.handler(input as never, context),
  })
}

/** A plain function and the label it lacks. */
export function fromFunction<Input>(
  work: (input: Input, context: ToolContext) => unknown,
  spec: Omit<ToolSpec<Input>, "execute">,
): Tool {
  return defineTool<Input>({ ...spec, execute: (input, context) => work(input, context) })
}

/** S1's tool. */
export interface DefinedTool {
  readonly definition: ToolDefinition & {
    readonly permissionLevel?: ToolPermissionLevel
    readonly requireExecutionApproval?: boolean
    readonly requireResultApproval?: boolean
  }
  /** Returns a plain value or S1's result: nothing but a status with data, error and rejectReason. */
  execute(args: never): unknown
  readonly tags?: readonly string[]
}

/** S1: a definition with its permission level, and a function. */
export function fromDefinition(tool: DefinedTool, options: AdapterOptions): Tool {
  const { name, description, parameters } = tool.definition.function
  return defineTool({
    ...options,
    name,
    description,
    tags: [...(tool.tags ?? []), ...(options.tags ?? [])],
    permission: { ...definedPermission(tool.definition), ...said(options.permission) },
    input: parameters ?? { type: "object", properties: {} },
    execute: async (input) => unwrapStatus(name, await tool.execute(input as never)),
  })
}

/** S4's tool: its schema is Zod, and it wraps its own result. */
export interface ResultTool {
  readonly name: string
  readonly description: string
  readonly category: ToolCategory
  readonly parameters: SchemaSource<unknown>
  execute(params: unknown, context: ToolContext): Promise<ResultLike>
}

/** S4: a tool that returns a whole result. */
export function fromResultTool(tool: ResultTool, options: AdapterOptions): Tool {
  const { name, description, category, parameters } = tool
  return defineTool({
    category,
    ...options,
    name,
    description,
    input: parameters,
    execute: async (input, context) => unwrapResult(name, await tool.execute(input, context)),
  })
}

/** The parameter list judges first, then the tool itself; what both complain of is said once. */
function baseToolSchema(tool: BaseTool): Schema {
  const { parameters } = tool
  const check = (args: unknown): Checked => {
    const checked = checkParameters(parameters, args)
    if (tool.validate === BaseTool.prototype.validate || typeName(args) !== "object") return checked
    const given = checked.ok ? checked.value : { ...(args as object) }
    const problems = [...(checked.ok ? [] : checked.problems), ...ownProblems(tool, given as Record<string, unknown>)]
    return checked.ok && problems.length === 0 ? checked : { ok: false, problems: [...new Set(problems)] }
  }
  return { json: tool.getDefinition().parameters, check }
}

function ownProblems(tool: BaseTool, args: Record<string, unknown>): string[] {
  try {
    const { valid, errors } = tool.validate(args)
    if (valid) return []
    return errors.length > 0 ? errors : [otherwise("", "was refused by the tool without a reason")]
  } catch (error) {
    return [otherwise("", `could not be checked by the tool: ${messageOf(error)}`)]
  }
}

/** The context of a running call makes its signal and its shelf on demand, so they are asked for and not copied. */
function moduleContext(context: ToolContext): ModuleContext {
  const { callId, sessionId, taskId, userId, allowedPaths } = context
  return {
    callId,
    sessionId,
    taskId,
    userId,
    allowedPaths,
    get agent() {
      return { ...context.agent, roleId: context.agent.role }
    },
    get signal() {
      return context.signal
    },
    get artifacts() {
      return context.artifacts
    },
    emit: (chunk) => context.emit(chunk),
    log: (message) => context.log(message),
    call: (tool, input) => context.call(tool, input),
  }
}

function definedPermission(definition: DefinedTool["definition"]): ToolPermission {
  const { permissionLevel, requireExecutionApproval, requireResultApproval } = definition
  return {
    level: permissionLevel,
    requireExecutionApproval,
    requireResultApproval: requireResultApproval === true ? "always" : undefined,
  }
}

/** What is given as undefined says nothing, so what the tool says of itself stands. */
function said(permission: ToolPermission = {}): ToolPermission {
  return Object.fromEntries(Object.entries(permission).filter(([, value]) => value !== undefined))
}

const jsonSchemaLists = ["anyOf", "oneOf", "allOf"]

/** JSON Schema says `$…`, is of type object or array, combines schemas or has properties that are schemas. */
function handlerSchema(given: JsonSchema | Shorthand, closed: boolean): JsonSchema {
  const { type, properties } = given
  const isJsonSchema =
    type === "object" ||
    type === "array" ||
    Object.keys(given).some((key) => key.startsWith("$")) ||
    jsonSchemaLists.some((key) => Array.isArray(given[key])) ||
    (isObject(properties) && Object.values(properties).every(isObject))
  return isJsonSchema ? given : shorthandToJsonSchema(given as Shorthand, closed)
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
