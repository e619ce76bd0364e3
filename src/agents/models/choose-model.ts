import type { Models } from "./open-models.ts"
import type { LanguageModel } from "./port.ts"

/** The sources of the model of a conversation. */
export interface ModelChoice {
  /** A model, or the name of one, that somebody asks for now. */
  chosen?: string | LanguageModel
  /** The name of the model that the conversation had so far. It counts as long as it is configured. */
  before?: string
  role?: { llmServiceId?: string | null }
}

/** The model that an agent talks to: the chosen one, that of the conversation so far, that of its role, or the default. */
export function chooseModel(models: Models, { chosen, before, role }: ModelChoice): LanguageModel {
  if (typeof chosen === "object") return chosen
  const isKnown = before !== undefined && models.list().some(({ name }) => name === before)
  return models.get(chosen ?? (isKnown ? before : role?.llmServiceId))
}
