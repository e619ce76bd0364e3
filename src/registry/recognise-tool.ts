import { isObject } from "../lib/is-object.ts"
import { checkParameters, parametersToJsonSchema } from "../schema/parameters.ts"
import { defineHostTool as defineTool } from "../schema/define-tool.ts"
import type { SchemaSource } from "../core/schema.ts"
import type { Tool, ToolSpec } from "../core/tool.ts"
import {
  fromBaseTool,
  fromDefinition,
  fromFunctionDefinition,
  fromHandler,
  fromResultTool,
  type AdapterOptions,
  type DefinedTool,
  type FunctionTool,
  type HandlerTool,
  type ResultTool,
} from "./adapters.ts"
import { isHarmlessByAuthor } from "./authors-word.ts"
import type { BaseTool } from "./base-tool.ts"

/**
 * A tool as `register` takes it: of `defineTool`, its specification, or in the form of one of the five source designs.
 */
export type AnyTool =
  | Tool
  | (Omit<ToolSpec<never>, "group" | "input"> & { group?: string; input: SchemaSource<unknown> })
  | FunctionTool
  | DefinedTool
  | (Omit<HandlerTool, "group"> & { group?: string; id?: string; type?: string })
  | (Pick<BaseTool, "name" | "description" | "parameters"> & { dangerous?: boolean; execute(args: never): unknown })
  | ResultTool

type Fields = Readonly<Record<string, unknown>>

export interface RecogniseOptions {
  /** The group of a tool that names none. */
  group: string
  version?: string
  /**
   * True if a tool without an effect runs unasked when its author writes that it is not dangerous. For tools of the
   * host's own code, not for plugins.
   */
  believesAuthor?: boolean
}

/** Makes a tool of a tool in any form. Use `whatIsMissing` first. */
export function recogniseTool(given: AnyTool, { group, version, believesAuthor = false }: RecogniseOptions): Tool {
  const tool = given as unknown as Fields
  if (isMade(tool)) return given as Tool
  const level = believesAuthor && isHarmlessByAuthor(tool) ? { level: "public" } : {}
  const options = {
    ...(version === undefined ? {} : { version }),
    group,
    ...specFieldsOf(tool),
    permission: { ...fieldsOf(tool["permission"]), ...level },
  } as AdapterOptions
  const { name, description, handler } = tool
  if (typeof handler === "function") {
    const { id: _id, type: _type, permission: _permission, ...own }: Fields = { ...tool, ...options }
    const permissions = { ...fieldsOf(tool["permissions"]), ...level }
    return fromHandler({ ...own, name, description, permissions, handler: handler.bind(tool) as unknown } as never)
  }
  if (isObject(tool["definition"])) return fromDefinition(given as DefinedTool, options)
  if (isObject(tool["function"])) return fromFunctionDefinition(given as FunctionTool, options)
  if ("input" in tool) return defineTool({ ...specOf(tool), ...options, name, description } as ToolSpec)
  if (Array.isArray(tool["parameters"])) return fromBaseTool(asBaseTool(given as BaseTool), options)
  return fromResultTool(given as ResultTool, options)
}

/** Describes what something lacks to be a tool, in a sentence without its subject. Undefined when it lacks nothing. */
export function whatIsMissing(given: unknown): string | undefined {
  if (!isObject(given)) return `it must be a tool, and is ${describeType(given)}.`
  if (isMade(given)) return undefined
  if ("getToolDefinitions" in given) return "it is a module. Register its tools with registerMany(fromModule(module))."
  const isHandler = typeof given["handler"] === "function"
  const where = "definition" in given ? "definition.function" : "function" in given ? "function" : undefined
  const described = where === undefined ? given : definitionOf(given)
  const inside = where === undefined ? "" : ` in '${where}'`
  const missing = [
    ...(isText(described["name"]) ? [] : [`a name${inside}`]),
    ...(isText(described["description"]) ? [] : [`a description${inside}`]),
    ...(isHandler || typeof given["execute"] === "function" ? [] : ["an execute function or a handler"]),
    ...(where !== undefined || hasSchema(given, isHandler) ? [] : [schemaWanted(isHandler)]),
  ]
  return missing.length === 0 ? undefined : `it needs ${listed(missing)}.`
}

/** The name under which a tool in any form would be registered. */
export function nameOf(given: unknown): string | undefined {
  if (!isObject(given)) return undefined
  const name = definitionOf(given)["name"] ?? given["name"]
  return isText(name) ? name : undefined
}

/** The type of a value, for a sentence: `a number`, `an empty text`, `null`. */
export function describeType(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return "a list"
  if (typeof value === "string") return value.trim() === "" ? "an empty text" : "a text"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}

/** The function definition of a tool of S0 or S1. */
function definitionOf(tool: Fields): Fields {
  return fieldsOf(isObject(tool["definition"]) ? tool["definition"]["function"] : tool["function"])
}

function hasSchema(tool: Fields, isHandler: boolean): boolean {
  if (isHandler) return isObject(tool["inputSchema"])
  return isSchema(tool["input"]) || isSchema(tool["parameters"])
}

function schemaWanted(isHandler: boolean): string {
  return `a schema in ${isHandler ? "'inputSchema'" : "'input' or 'parameters'"} (an empty one means no input)`
}

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join() : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`
}

function isSchema(value: unknown): boolean {
  return typeof value === "object" && value !== null
}

function isMade({ input, permission, execute }: Fields): boolean {
  const isReady = typeof (input as { check?: unknown } | undefined)?.check === "function"
  return isReady && typeof execute === "function" && fieldsOf(permission)["level"] !== undefined
}

/** An instance has its methods in its class, so copying the object would lose them. */
function specOf(tool: Fields): Fields {
  const methods = ["execute", "touches", "onlyReads", "preview", "question", "describe"].flatMap((name) => {
    const method = tool[name]
    return typeof method === "function" ? [[name, (...given: unknown[]) => method.apply(tool, given) as unknown]] : []
  })
  return { ...tool, ...(Object.fromEntries(methods) as Fields) }
}

const specFields = [
  "title", "group", "category", "effect", "kind", "output", "permission", "version", "author", "tags", "timeoutMs", "idempotent", "destructive", "exclusive",
  "fallback", "dependsOn", "cache", "durability",
] // prettier-ignore

/** The fields of `ToolSpec` that the tool sets itself. */
function specFieldsOf(tool: Fields): Fields {
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
    const checked = checkParameters(parameters, args)
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

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== ""
}

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}
