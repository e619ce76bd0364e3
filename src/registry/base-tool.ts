import { checkParameters, parametersToJsonSchema, type ToolParameter } from "../model/parameters.ts"
import type { JsonSchema } from "../model/schema.ts"

/** What S3's tools return. */
export interface BaseToolResult {
  success: boolean
  data?: unknown
  error?: string
  metadata?: Record<string, unknown>
}

/** The base class of design S3. Register one with `registry.register(fromBaseTool(new MyTool(), { group }))`. */
export abstract class BaseTool {
  abstract readonly name: string
  abstract readonly description: string
  abstract readonly parameters: readonly ToolParameter[]
  /** True asks a person before every call. */
  readonly dangerous: boolean = false

  abstract execute(args: Record<string, unknown>): Promise<BaseToolResult>

  validate(args: Record<string, unknown>): { valid: boolean; errors: string[] } {
    const checked = checkParameters(this.parameters, args)
    return checked.ok ? { valid: true, errors: [] } : { valid: false, errors: checked.problems }
  }

  getDefinition(): { name: string; description: string; parameters: JsonSchema } {
    return { name: this.name, description: this.description, parameters: parametersToJsonSchema(this.parameters) }
  }
}
