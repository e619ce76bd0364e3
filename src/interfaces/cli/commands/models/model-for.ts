import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { LanguageModel } from "../../../../agents/models/port.ts"
import type { LoadedConfig } from "../../../../config/load.ts"
import type { Conversation } from "../../../../core/conversation.ts"
import { CannotDo } from "../../common/usage.ts"

/**
 * The model that an agent talks to: the one that was named, that of the conversation so far, or that of its role. Says
 * what to do when there is none.
 */
export async function modelFor(
  app: Quartermaster,
  loaded: LoadedConfig,
  agentId: string,
  { named, before }: { named?: string; before?: Conversation },
): Promise<LanguageModel> {
  if (app.models.list().length === 0)
    throw new CannotDo("no_models", loaded.ignored.some(isModels) ? notTrusted : noModels)
  const { rememberedOf } = await import("../../../../agents/chain/remembered.ts")
  const { chooseModel } = await import("../../../../agents/models/choose-model.ts")
  const role = app.org.findRole(app.org.findAgent(agentId)?.roleId ?? "")
  try {
    return chooseModel(app.models, { chosen: named, before: before && rememberedOf(before).model, role })
  } catch (error) {
    const { ModelError } = await import("../../../../agents/models/model-error.ts")
    throw error instanceof ModelError ? new CannotDo(error.code, error.message) : error
  }
}

function isModels({ key }: { key: string }): boolean {
  return key === "models" || key.startsWith("models.")
}

const notTrusted =
  "The models of quartermaster.yml do not count before you trust the file. Read it with 'qm check', then run 'qm trust'."

const noModels = `No model is configured. Add one to quartermaster.yml, for example:

models:
  local:
    provider: openai-compatible
    baseUrl: http://127.0.0.1:11434/v1
    model: qwen3

To try it without a model, let a script play one:

models:
  demo: { provider: scripted, script: demo.yml }

with demo.yml:

- say: I look around.
  call: { list_files: { path: . } }
- say: That is what is here.`
