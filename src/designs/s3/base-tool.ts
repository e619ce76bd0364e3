import { BaseTool as CoreBaseTool } from "../../registry/base-tool.ts"
import { expectedType, missingParameter, notOneOf } from "../../schema/problems.ts"
import type { ValidationResult } from "./types.ts"

/** The core's base class with S3's definition and S3's validation. A call is checked by the core too. */
export abstract class BaseTool extends CoreBaseTool {
  /** As S3 writes it: a value of a wrong type may also miss the enum; null and parameters without a name here pass. */
  override validate(args: Record<string, unknown>): ValidationResult {
    const errors = this.parameters.flatMap(({ name, type, required, enum: values }) => {
      if (!Object.hasOwn(args, name)) return required ? [missingParameter(name)] : []
      const value = args[name]
      const actual = Array.isArray(value) ? "array" : typeof value
      return [
        ...(actual === type || value === null ? [] : [expectedType(name, type, actual)]),
        ...(values === undefined || values.includes(value) ? [] : [notOneOf(name, values)]),
      ]
    })
    return { valid: errors.length === 0, errors }
  }

  /** It does not say that other parameters are refused. */
  override getDefinition(): ReturnType<CoreBaseTool["getDefinition"]> {
    const { parameters, ...named } = super.getDefinition()
    const { additionalProperties: _additionalProperties, ...own } = parameters
    return { ...named, parameters: own }
  }
}
