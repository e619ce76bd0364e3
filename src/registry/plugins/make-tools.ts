import { failure } from "../../core/ending.ts"
import { errorMessage } from "../../lib/error-message.ts"
import type { Tool, ToolContext } from "../../core/tool.ts"
import { fromModule, type ModuleOptions, type ToolModule } from "../adapters.ts"
import type { ToolDefinition } from "../groups.ts"
import { describeType, recogniseTool, whatIsMissing, type AnyTool } from "../recognise-tool.ts"
import { runPluginCode, type PluginCode } from "../../lib/plugin-code.ts"
import type { ReadPlugin } from "./read-plugin.ts"

/** Counts the running calls of a plugin, so that it is shut down after they have ended. */
export interface PluginCallCounter {
  /** Returns a function that ends the call. */
  begin(): () => void
}

/** Makes all tools of a plugin. Throws one error that lists every tool that cannot be made. */
export function makePluginTools(
  plugin: ReadPlugin,
  calls: PluginCallCounter,
  moduleDefaults: Omit<ModuleOptions, "tools"> = {},
): Tool[] {
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
      : moduleTools(plugin, attempt, moduleDefaults)
  if (problems.length > 0) throw new Error(`Invalid ${plugin.kind} format: ${problems.join(" ")}`)
  if (made.length === 0) throw new Error(`The ${plugin.kind} ${plugin.name} has no tools. Give it at least one.`)
  return made.map((tool) => inPlugin(tool, plugin, calls))
}

type Attempt = (where: string, make: () => Tool[]) => Tool[]

/** The tools of a module (S0). Effects and permissions are in its `toolOptions`, by tool name. */
function moduleTools(
  { module, version, group }: ReadPlugin,
  attempt: Attempt,
  defaults: Omit<ModuleOptions, "tools">,
): Tool[] {
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
      const usual = Object.hasOwn(toolOptions, described.name) ? {} : defaults
      return fromModule(one, { ...usual, ...shared, tools: toolOptions })
    }),
  )
}

/** One tool in the form of any of the five designs. That its author calls it harmless does not count: nobody here wrote it. */
function oneTool(given: unknown, { group, version }: ReadPlugin): Tool {
  const missing = whatIsMissing(given)
  if (missing !== undefined) throw new Error(missing)
  return recogniseTool(given as AnyTool, { group, version })
}

/** The tool in its plugin's group, whatever group it names itself, with its running calls counted. */
function inPlugin(tool: Tool, { name, group }: ReadPlugin, calls: PluginCallCounter): Tool {
  const code = { plugin: name, tool: tool.name }
  const execute = (input: unknown, context: ToolContext): unknown => {
    const end = calls.begin()
    let value: unknown
    try {
      value = runPluginCode(code, () => tool.execute(input, context))
    } catch (error) {
      end()
      throw asOwnFailure(error)
    }
    if (isStream(value)) return streamed(value, code, end)
    return Promise.resolve(value)
      .then((settled) => (isStream(settled) ? streamed(settled, code, end) : (end(), settled)))
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

async function* streamed(
  stream: AsyncGenerator<unknown, unknown>,
  code: PluginCode,
  end: () => void,
): AsyncGenerator<unknown, unknown> {
  try {
    return yield* { [Symbol.asyncIterator]: () => stepping(stream, code) }
  } catch (error) {
    throw asOwnFailure(error)
  } finally {
    end()
  }
}

/** Each step of a stream runs where it is asked for, so each is marked as the plugin's. */
function stepping(stream: AsyncGenerator<unknown, unknown>, code: PluginCode): AsyncIterator<unknown, unknown> {
  const steps = stream[Symbol.asyncIterator]() as AsyncIterator<unknown, unknown>
  return {
    next: () => runPluginCode(code, () => steps.next()),
    ...(steps.return && { return: (value) => runPluginCode(code, () => steps.return!(value)) }),
    ...(steps.throw && { throw: (error) => runPluginCode(code, () => steps.throw!(error)) }),
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
