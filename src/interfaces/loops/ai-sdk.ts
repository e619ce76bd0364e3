import type { ResultImage } from "../../core/result-image.ts"
import type { JsonSchema } from "../../core/schema.ts"
import { governedToolList, type LoopApp, type LoopOptions } from "./governed-calls.ts"

export type { LoopOptions } from "./governed-calls.ts"

/** A tool as the AI SDK takes it. */
export interface AiSdkTool {
  type: "dynamic"
  description: string
  inputSchema: AiSdkSchema
  execute(input: unknown, options: { abortSignal?: AbortSignal }): Promise<AiSdkOutput>
  toModelOutput(ended: { output: AiSdkOutput }): AiSdkModelOutput
}

/** The text for the model; with its image, when the model sees images. */
export type AiSdkOutput = string | { text: string; image: ResultImage }

/** A result as the AI SDK sends it to the model. */
export type AiSdkModelOutput =
  | { type: "text"; value: string }
  | {
      type: "content"
      value: ({ type: "text"; text: string } | AiSdkFile)[]
    }

interface AiSdkFile {
  type: "file"
  mediaType: string
  data: { type: "data"; data: string }
}

/** A Standard Schema that the model is shown and that accepts everything: Quartermaster validates, and records refusals. */
export interface AiSdkSchema {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: "quartermaster"
    validate(value: unknown): { value: unknown }
    readonly jsonSchema: { input(): JsonSchema; output(): JsonSchema }
  }
}

/**
 * The tools of an agent for the AI SDK (`ai` 7): `generateText`, `streamText`, `ToolLoopAgent`.
 *
 * ```ts
 * const { text } = await generateText({ model, tools: governedTools(app, "dev"), stopWhen: stepCountIs(10), prompt })
 * ```
 */
export function governedTools(app: LoopApp, agentId: string, options: LoopOptions = {}): Record<string, AiSdkTool> {
  const tools = governedToolList(app, agentId, options)
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema, call }): [string, AiSdkTool] => [
      name,
      {
        type: "dynamic",
        description,
        inputSchema: schemaOf(inputSchema),
        async execute(input, { abortSignal }) {
          const { text, image } = await call(input, abortSignal)
          return image === undefined ? text : { text, image }
        },
        toModelOutput: ({ output }) => modelOutput(output),
      },
    ]),
  )
}

function modelOutput(output: AiSdkOutput): AiSdkModelOutput {
  if (typeof output === "string") return { type: "text", value: output }
  const { mimeType: mediaType, data } = output.image
  return {
    type: "content",
    value: [
      { type: "text", text: output.text },
      { type: "file", mediaType, data: { type: "data", data } },
    ],
  }
}

/** The SDK knows its own schemas by this symbol and sends them as they are; it closes the objects of all others. */
const schemaSymbol = Symbol.for("vercel.ai.schema")

function schemaOf(shown: JsonSchema): AiSdkSchema {
  const copy = () => structuredClone(shown)
  const own = { [schemaSymbol]: true, jsonSchema: shown, validate: (value: unknown) => ({ success: true, value }) }
  return {
    ...own,
    "~standard": {
      version: 1,
      vendor: "quartermaster",
      validate: (value) => ({ value }),
      jsonSchema: { input: copy, output: copy },
    },
  }
}
