import { checkParameters, parametersToJsonSchema } from "../schema/parameters.ts"
import type { ToolParameter } from "../core/schema.ts"
import type { JsonSchema } from "../core/schema.ts"

/** The return value of a `BaseTool`. */
export interface BaseToolResult {
  success: boolean
  data?: unknown
  error?: string
  metadata?: Record<string, unknown>
}

/**
 * A base class for tools as classes. Register one with `registry.register(new MyTool())`, or with
 * `registry.register(fromBaseTool(new MyTool(), { group, effect }))`.
 */
export abstract class BaseTool {
  abstract readonly name: string
  abstract readonly description: string
  abstract readonly parameters: readonly ToolParameter[]
  /**
   * True asks a person before every call. False, written in a class right below this one, lets `register` run the tool
   * unasked. The default is in the prototype, so that it can be told from what an author writes.
   */
  declare readonly dangerous: boolean

  static {
    Object.defineProperty(this.prototype, "dangerous", { value: false, writable: true, configurable: true })
  }

  abstract execute(args: Record<string, unknown>): Promise<BaseToolResult>

  validate(args: Record<string, unknown>): { valid: boolean; errors: string[] } {
    const checked = checkParameters(this.parameters, args)
    return checked.ok ? { valid: true, errors: [] } : { valid: false, errors: checked.problems }
  }

  getDefinition(): { name: string; description: string; parameters: JsonSchema } {
    return { name: this.name, description: this.description, parameters: parametersToJsonSchema(this.parameters) }
  }
}
