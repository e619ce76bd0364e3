import { ModelError } from "./model-error.ts"
import type { LanguageModel, ModelRequest, ModelTurn } from "./port.ts"
import { runTurn } from "./run-turn.ts"

/** The results of one small request to a model. */
export interface ModelProbe {
  answers: boolean
  /** True if it made the call it was asked for; false also if the server refuses tools. */
  tools?: boolean
  /** True if streamed calls arrive; false if they are lost or `streamTools` is false. */
  streaming?: boolean
  /** Until the first part, in milliseconds. */
  firstPartMs?: number
  ms: number
  /** The problem, and its remedy. */
  problem?: { code: string; message: string }
}

const request: ModelRequest = {
  messages: [{ role: "user", content: "Call the tool repeat_text with the text hello. Do nothing else." }],
  tools: [
    {
      name: "repeat_text",
      description: "Answers with the same text.",
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    },
  ],
  maxOutputTokens: 1024,
}

/** Asks a model to make one call, without retries. A server that refuses tools is asked once more without them. */
export async function probeModel(model: LanguageModel, signal?: AbortSignal): Promise<ModelProbe> {
  const began = performance.now()
  let firstPartMs: number | undefined
  let isStreaming = model.streamTools !== false
  const since = () => Math.round(performance.now() - began)
  const ask = (withTools: boolean): Promise<ModelTurn> =>
    runTurn(
      model,
      { ...request, signal, ...(withTools ? {} : { tools: [] }) },
      {
        retries: 0,
        onPart: () => (firstPartMs ??= since()),
        onRetry: () => (isStreaming = false),
      },
    )
  const answered = (tools: boolean, problem?: ModelProbe["problem"]): ModelProbe => ({
    answers: true,
    tools,
    streaming: isStreaming,
    firstPartMs: firstPartMs ?? since(),
    ms: since(),
    ...(problem && { problem }),
  })
  try {
    const turn = await ask(true)
    // A script calls what is written in it.
    if (model.provider === "scripted" || turn.calls.some(({ malformed }) => malformed === undefined))
      return answered(true, lostCalls())
    return answered(false, {
      code: "no_call",
      message: `The model '${model.name}' was asked to call a tool and ${turn.describedCall ? "wrote the call as text" : "did not"}. Agents need a model and server that can call tools.`,
    })
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    const problem = { code: error.code, message: error.message }
    if (error.code !== "refused_schema") return { answers: false, ms: since(), problem }
    return ask(false).then(
      () => answered(false, problem),
      () => ({ answers: false, ms: since(), problem }),
    )
  }

  function lostCalls(): ModelProbe["problem"] {
    if (isStreaming || model.streamTools === false) return undefined
    return {
      code: "lost_calls",
      message: `The server of the model '${model.name}' loses streamed calls. Set 'models.${model.name}.streamTools' to false.`,
    }
  }
}
