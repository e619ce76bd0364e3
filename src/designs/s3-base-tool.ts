import { BaseTool as CoreBaseTool } from "../registry/base-tool.ts"

/** The core's base class, with S3's definition: it does not say that other parameters are refused. */
export abstract class BaseTool extends CoreBaseTool {
  override getDefinition(): ReturnType<CoreBaseTool["getDefinition"]> {
    const { parameters, ...named } = super.getDefinition()
    const { additionalProperties: _additionalProperties, ...own } = parameters
    return { ...named, parameters: own }
  }
}
