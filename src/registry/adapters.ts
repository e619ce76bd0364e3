import { isObject } from "../lib/is-object.ts"
import { defineHostTool as defineTool } from "../schema/define-tool.ts"
import { errorMessage } from "../lib/error-message.ts"
import { checkParameters } from "../schema/parameters.ts"
import type { Language } from "../core/language.ts"
import type { RateLimit, ToolPermission, ToolPermissionLevel } from "../core/permission.ts"
import { parameterProblem, typeName } from "../schema/problems.ts"
import type { ValidationResult, JsonSchema, Schema, SchemaSource } from "../core/schema.ts"
import type { ResultOf, Tool, ToolCategory, ToolContext, ToolSpec, TypedTool } from "../core/tool.ts"
import { BaseTool } from "./base-tool.ts"
import { unwrapBaseResult, unwrapError, unwrapResult, unwrapStatus, type ResultLike } from "./foreign-results.ts"
import type { ToolDefinition } from "./groups.ts"
import { shorthandToJsonSchema, type Shorthand } from "./shorthand.ts"

const noInput: JsonSchema = { type: "object", properties: {}, additionalProperties: false }

type Foreign = "name" | "description" | "input" | "execute"

/** The options the adapted tool does not state itself: group, effect and so on. Without an effect it is sensitive. */
export type AdapterOptions = Omit<ToolSpec, Foreign>

/**
 * Adapts a `BaseTool`. Its own `validate` is used too, and options cannot undo `dangerous`.
 *
 * ```ts
 * registry.register(fromBaseTool(new WeatherTool(), { group: "weather", effect: "network" }))
 * ```
 */
export function fromBaseTool(tool: BaseTool, options: AdapterOptions): Tool {
  const { name, description } = tool
  const dangerous = tool.dangerous || options.permission?.dangerous === true
  return defineTool({
    ...options,
    name,
    description,
    permission: { ...options.permission, dangerous },
    input: baseToolSchema(tool),
    execute: async (input, { addMetadata }) => {
      const returned = await tool.execute(input as Record<string, unknown>)
      const data = unwrapBaseResult(name, returned)
      if (returned.metadata !== undefined) addMetadata?.(returned.metadata)
      return data
    },
  })
}

/** The context that a module's tools receive. */
export interface ModuleContext extends Omit<ToolContext, "agent"> {
  /** `roleId` is the role's name. */
  readonly agent: ToolContext["agent"] & { readonly roleId: string }
}

/** A module: many tools behind one function. `PluginManager` calls `init` and `shutdown`; `fromModule` does not. */
export interface ToolModule {
  readonly name: string
  readonly toolGroupId?: string
  /** A text, or one per language. */
  readonly toolGroupDescription?: string | Readonly<Record<Language, string>>
  getToolDefinitions(): readonly ToolDefinition[]
  /** A returned `{ error: "code", message? }` is a failure. */
  executeToolCall(context: ModuleContext, toolName: string, args: unknown): unknown
  init?(runtime: unknown, config: unknown): unknown
  shutdown?(): unknown
}

/** Options for all tools of a module, and under `tools` for single ones. */
export interface ModuleOptions extends Omit<AdapterOptions, "group"> {
  readonly tools?: { readonly [name: string]: Omit<AdapterOptions, "group"> }
}

/** Adapts all tools of a module. They are in the module's group. */
export function fromModule(module: ToolModule, { tools: single = {}, ...shared }: ModuleOptions = {}): Tool[] {
  const { id: group } = moduleGroup(module)
  return module.getToolDefinitions().map(({ function: { name, description, parameters } }) =>
    defineTool({
      ...shared,
      ...single[name],
      name,
      description,
      group,
      input: parameters ?? noInput,
      execute: async (input, context) =>
        unwrapError(name, await module.executeToolCall(moduleContext(context), name, input)),
    }),
  )
}

/** The group of a module's tools. */
export function moduleGroup(
  { name, toolGroupId, toolGroupDescription }: ToolModule,
  language: Language = "en",
): { id: string; description: string } {
  const usual = { en: `Tools of the module ${name}`, zh: `${name} 模块提供的工具` }
  const description = toolGroupDescription ?? usual
  return { id: toolGroupId ?? name, description: typeof description === "string" ? description : description[language] }
}

/** Permissions in the spelling of handler tools. All fields are optional. */
interface HandlerPermissions {
  readonly allowedRoles?: readonly string[]
  readonly allowedDepartments?: readonly string[]
  readonly minLevel?: number
  readonly requireConfirmation?: boolean
  readonly isDangerous?: boolean
  readonly rateLimit?: RateLimit
}

/** A tool with a `handler`. Its schemas are JSON Schema or a shorthand such as `{ path: "string", limit: "number?" }`. */
export interface HandlerTool extends Omit<AdapterOptions, "output" | "permission"> {
  name: string
  description: string
  category?: ToolCategory
  inputSchema: JsonSchema | Shorthand
  outputSchema?: JsonSchema | Shorthand
  permissions?: HandlerPermissions
  /** Returns the result, or throws. */
  handler: (params: never, context: ToolContext) => unknown
}

/** Adapts a tool with a `handler`. */
export function fromHandler(tool: HandlerTool): Tool {
  const { inputSchema, outputSchema, permissions = {}, handler: _, ...rest } = tool
  const { isDangerous, ...permission } = permissions
  return defineTool({
    ...rest,
    permission: { ...permission, dangerous: isDangerous },
    input: handlerSchema(inputSchema, true),
    ...(outputSchema === undefined ? {} : { output: resultSchema(outputSchema) }),
    execute: (input, context) => tool.handler(input as never, context),
  })
}

/**
 * Makes a tool of a plain function.
 *
 * ```ts
 * fromFunction(({ a, b }) => a + b, { name: "add", group: "math", description: "Add two numbers.", effect: "none", input })
 * ```
 */
export function fromFunction<Input, Given = Input, Returned = unknown>(
  work: (input: Input, context: ToolContext) => Returned,
  spec: Omit<ToolSpec<Input, Given>, "execute">,
): TypedTool<Given, ResultOf<unknown, Returned>> {
  return defineTool({ ...spec, execute: (input: Input, context: ToolContext) => work(input, context) })
}

/** A tool with a function definition and a permission level. */
export interface DefinedTool {
  readonly definition: ToolDefinition & {
    readonly permissionLevel?: ToolPermissionLevel
    readonly requireExecutionApproval?: boolean
    readonly requireResultApproval?: boolean
  }
  /** Returns a plain value, or an object with a status and nothing but data, error and rejectReason. */
  execute(args: never): unknown
  readonly tags?: readonly string[]
}

/** Adapts a tool with a function definition and a permission level. */
export function fromDefinition(tool: DefinedTool, options: AdapterOptions): Tool {
  const { name, description, parameters } = tool.definition.function
  return defineTool({
    ...options,
    name,
    description,
    tags: [...(tool.tags ?? []), ...(options.tags ?? [])],
    permission: { ...definedPermission(tool.definition), ...withoutUndefined(options.permission) },
    input: parameters ?? noInput,
    execute: async (input) => unwrapStatus(name, await tool.execute(input as never)),
  })
}

/** A function definition of S0 with the function that does the work. */
export interface FunctionTool extends ToolDefinition {
  /** A returned `{ error: "code", message? }` is a failure. */
  execute(args: never, context: ToolContext): unknown
}

/** Adapts a function definition of S0 that has its function beside it. */
export function fromFunctionDefinition(tool: FunctionTool, options: AdapterOptions): Tool {
  const { name, description, parameters } = tool.function
  return defineTool({
    ...options,
    name,
    description,
    input: (parameters as JsonSchema | undefined) ?? noInput,
    execute: async (input, context) => unwrapError(name, await tool.execute(input as never, context)),
  })
}

/** A tool that returns `{ success, result, error }`. */
export interface ResultTool {
  readonly name: string
  readonly description: string
  readonly category?: ToolCategory
  readonly parameters: SchemaSource<unknown>
  execute(params: unknown, context: ToolContext): Promise<ResultLike>
}

/** Adapts a tool that returns `{ success, result, error }`. */
export function fromResultTool(tool: ResultTool, options: AdapterOptions): Tool {
  const { name, description, category, parameters } = tool
  return defineTool({
    ...(category === undefined ? {} : { category }),
    ...options,
    name,
    description,
    input: parameters,
    execute: async (input, context) => unwrapResult(name, await tool.execute(input, context)),
  })
}

/** Validates with the parameter list and then with the tool's own `validate`. Repeated problems are reported once. */
function baseToolSchema(tool: BaseTool): Schema {
  const { parameters } = tool
  const check = (args: unknown): ValidationResult => {
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
    return errors.length > 0 ? errors : [parameterProblem("", "was refused by the tool without a reason")]
  } catch (error) {
    return [parameterProblem("", `could not be checked by the tool: ${errorMessage(error)}`)]
  }
}

/** Values that the context creates on first use are passed on as getters and not copied. */
function moduleContext(context: ToolContext): ModuleContext {
  const { callId, sessionId, taskId, userId, allowedPaths, approved, answer } = context
  return {
    callId,
    sessionId,
    taskId,
    userId,
    allowedPaths,
    approved,
    answer,
    get agent() {
      return { ...context.agent, roleId: context.agent.role }
    },
    get signal() {
      return context.signal
    },
    get artifacts() {
      return context.artifacts
    },
    get mayRead() {
      return context.mayRead
    },
    get sendRequest() {
      return context.sendRequest
    },
    get able() {
      return context.able
    },
    get addMetadata() {
      return context.addMetadata
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
    requireResultApproval,
  }
}

/** Undefined values must not override the tool's own. */
function withoutUndefined(permission: ToolPermission = {}): ToolPermission {
  return Object.fromEntries(Object.entries(permission).filter(([, value]) => value !== undefined))
}

const jsonSchemaLists = ["anyOf", "oneOf", "allOf"]

/** A result may be of any type, so `{}` and `{ type: "string" }` are JSON Schema there. */
function resultSchema(given: JsonSchema | Shorthand): JsonSchema {
  const { type, ...more } = given
  const isTyped = typeof type === "string" && jsonTypes.has(type)
  const isPlain = Object.keys(given).length === 0 || (isTyped && !Object.values(more).some(isShorthandWord))
  return isPlain ? given : handlerSchema(given, false)
}

const jsonTypes = new Set(["string", "number", "integer", "boolean", "null", "object", "array"])

/** `{ type: "string", title: "string" }` are two fields. */
function isShorthandWord(value: unknown): boolean {
  return typeof value === "string" && /^(?:(?:string|number|boolean|object|any)(?:\[\])*\??$|')/.test(value)
}

/** Tells JSON Schema from shorthand: it has a `$` key, is an object or array, combines schemas, or has `properties` of schemas. */
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
