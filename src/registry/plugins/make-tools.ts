import { defineTool } from "../../schema/define-tool.ts"
import { failure } from "../../model/ending.ts"
import { errorMessage } from "../../lib/error-message.ts"
import { checkParameters, parametersToJsonSchema } from "../../schema/parameters.ts"
import type { ToolParameter } from "../../model/schema.ts"
import type { Tool, ToolContext, ToolSpec } from "../../model/tool.ts"
import {
  fromBaseTool,
  fromDefinition,
  fromHandler,
  fromModule,
  fromResultTool,
  type AdapterOptions,
  type ModuleOptions,
  type ToolModule,
} from "../adapters.ts"
import type { BaseTool } from "../base-tool.ts"
import type { ToolDefinition } from "../groups.ts"
import { describeType, type ReadPlugin } from "./read-plugin.ts"

/** Counts the running calls of a plugin, so that it is shut down after they have ended. */
export interface PluginCallCounter {
  /** Returns a function that ends the call. */
  begin(): () => void
}

/** Makes all tools of a plugin. Throws one error that lists every tool that cannot be made. */
export function makePluginTools(plugin: ReadPlugin, calls: PluginCallCounter): Tool[] {
  const problems: string[] = []
  const attempt = (where: string, make: () => Tool[]): Tool[] => {
    try {
      return make()
    } catch (error) {
      problems.push(`${where}: ${errorMessage(error)}`)
      return []
    }
  }
  const made =
    plugin.module === undefined
      ? plugin.tools.flatMap((given, index) => attempt(`tools[${index}]`, () => [oneTool(given, plugin)]))
      : moduleTools(plugin, attempt)
  if (problems.length > 0) throw new Error(`Invalid ${plugin.kind} format: ${problems.join(" ")}`)
  if (made.length === 0) throw new Error(`The ${plugin.kind} ${plugin.name} has no tools. Give it at least one.`)
  return made.map((tool) => inPlugin(tool, plugin.group, calls))
}

type Attempt = (where: string, make: () => Tool[]) => Tool[]

/** The tools of a module (S0). Effects and permissions are in its `toolOptions`, by tool name. */
function moduleTools({ module, version, group }: ReadPlugin, attempt: Attempt): Tool[] {
  const given: unknown = module!.getToolDefinitions()
  if (!Array.isArray(given)) {
    throw new Error(
      `Invalid module format: getToolDefinitions must return a list, and returned ${describeType(given)}.`,
    )
  }
  const { toolOptions = {} } = module as { toolOptions?: ModuleOptions["tools"] & {} }
  const shared = version === undefined ? {} : { version }
  return given.flatMap((definition: unknown, index) =>
    attempt(`getToolDefinitions()[${index}]`, () => {
      const { function: described } = (definition ?? {}) as Partial<ToolDefinition>
      if (typeof described?.name !== "string") throw new Error("it needs a function with a name.")
      const one: ToolModule = {
        name: group,
        getToolDefinitions: () => [definition as ToolDefinition],
        executeToolCall: (...call) => module!.executeToolCall(...call),
      }
      return fromModule(one, { ...shared, tools: toolOptions })
    }),
  )
}

/** One tool in the form of any of the five designs. */
function oneTool(given: unknown, { group, version }: ReadPlugin): Tool {
  if (typeof given !== "object" || given === null) throw new Error(`it must be a tool, and is ${describeType(given)}.`)
  const tool = given as Record<string, unknown>
  const options = { ...(version === undefined ? {} : { version }), ...specFieldsOf(tool), group } as AdapterOptions
  if (isMade(tool)) return tool as unknown as Tool
  const { name, description, handler } = tool
  if (typeof handler === "function") {
    return fromHandler({
      ...options,
      ...tool,
      name,
      description,
      handler: handler.bind(tool) as unknown,
      group,
    } as never)
  }
  if (typeof tool["execute"] !== "function") throw new Error("it needs an execute function, or a handler.")
  if ("definition" in tool) return fromDefinition(tool as never, options)
  if ("input" in tool) return defineTool({ ...options, ...specOf(tool), name, description, group } as ToolSpec)
  if (Array.isArray(tool["parameters"])) return fromBaseTool(asBaseTool(tool as never), options)
  if ("parameters" in tool) return fromResultTool(tool as never, options)
  throw new Error("it needs 'input', a schema, or 'parameters', a list; an empty one means no input.")
}

function isMade({ input, permission, execute }: Record<string, unknown>): boolean {
  const isReady = typeof (input as { check?: unknown } | undefined)?.check === "function"
  return (
    isReady && typeof execute === "function" && (permission as { level?: unknown } | undefined)?.level !== undefined
  )
}

/** An instance has its methods in its class, so copying the object would lose them. */
function specOf(tool: Record<string, unknown>): Record<string, unknown> {
  const methods = ["execute", "touches", "preview", "question", "describe"].flatMap((name) => {
    const method = tool[name]
    return typeof method === "function" ? [[name, (...given: unknown[]) => method.apply(tool, given) as unknown]] : []
  })
  return { ...tool, ...(Object.fromEntries(methods) as Record<string, unknown>) }
}

const specFields = [
  "title", "category", "effect", "kind", "output", "permission", "version", "author", "tags", "timeoutMs", "idempotent", "destructive", "exclusive",
  "fallback", "dependsOn", "cache", "durability",
] // prettier-ignore

/** The fields of `ToolSpec` that the tool sets itself. */
function specFieldsOf(tool: Record<string, unknown>): Record<string, unknown> {
  const present = specFields.filter((field) => tool[field] !== undefined)
  return Object.fromEntries([
    ...present.map((field) => [field, tool[field]] as const),
    ...["touches", "preview"].flatMap((name) => {
      const method = tool[name]
      return typeof method === "function" ? [[name, method.bind(tool) as unknown] as const] : []
    }),
  ])
}

/** Makes a `BaseTool` of a plain object with its fields, or of an instance from another copy of this library. */
function asBaseTool(tool: BaseTool): BaseTool {
  const { name, description, parameters } = tool
  if (typeof tool.validate === "function" && typeof tool.getDefinition === "function") return tool
  const check = (args: unknown) => {
    const checked = checkParameters(parameters as readonly ToolParameter[], args)
    return checked.ok ? { valid: true, errors: [] } : { valid: false, errors: checked.problems }
  }
  return {
    name,
    description,
    parameters,
    dangerous: (tool.dangerous as boolean | undefined) ?? false,
    execute: (args) => tool.execute(args),
    validate: typeof tool.validate === "function" ? (args) => tool.validate(args) : check,
    getDefinition: () => ({ name, description, parameters: parametersToJsonSchema(parameters) }),
  }
}

/** The tool in its plugin's group, whatever group it names itself, with its running calls counted. */
function inPlugin(tool: Tool, group: string, calls: PluginCallCounter): Tool {
  const execute = (input: unknown, context: ToolContext): unknown => {
    const end = calls.begin()
    let value: unknown
    try {
      value = tool.execute(input, context)
    } catch (error) {
      end()
      throw asOwnFailure(error)
    }
    if (isStream(value)) return streamed(value, end)
    return Promise.resolve(value)
      .then((settled) => (isStream(settled) ? streamed(settled, end) : (end(), settled)))
      .catch((error: unknown) => {
        end()
        throw asOwnFailure(error)
      })
  }
  const fields = Object.getOwnPropertyDescriptors(tool)
  const own = { configurable: true, enumerable: true, writable: true }
  return Object.defineProperties(
    {},
    {
      ...fields,
      group: { ...own, value: group },
      execute: { ...own, value: execute },
    },
  ) as Tool
}

async function* streamed(stream: AsyncGenerator<unknown, unknown>, end: () => void): AsyncGenerator<unknown, unknown> {
  try {
    return yield* stream
  } catch (error) {
    throw asOwnFailure(error)
  } finally {
    end()
  }
}

function isStream(value: unknown): value is AsyncGenerator<unknown, unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value && "next" in value
}

/** Recognises a `failure` made by another copy of this library. */
function asOwnFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== "ToolFailure") return error
  const { message, toolCode, transient, metadata } = error as ReturnType<typeof failure>
  return failure(message, {
    ...(toolCode === undefined ? {} : { toolCode }),
    ...(transient ? { transient } : {}),
    ...(metadata === undefined ? {} : { metadata }),
    cause: error,
  })
}
