import type { Masker } from "../../audit/masker.ts"
import type { QuartermasterEvent } from "../../core/events.ts"
import type { Durability } from "../../core/reason.ts"
import type { Grant } from "../../core/rule.ts"
import type { Organisation } from "../../org/organisation.ts"
import type { Tools } from "../../registry/tools.ts"
import type { CallStore, Recorder } from "../../store/port.ts"

/** The parts of the system that an answer needs. */
export interface ApprovalPorts {
  tools: Tools
  organisation: Organisation
  recorder: Recorder
  calls: CallStore
  masker: Masker
  grants: { save(grant: Grant): Promise<void> }
  /** The roles of a person. Undefined when there is no such person. */
  rolesOf(person: string): readonly string[] | undefined
  /** Since when there is an active person with this id in the organisation; an empty text for a configured one. */
  personSince(id: string): string | undefined
  /** Reports whether the calls of a session resume by themselves, once they are answered, wherever agents run. */
  resumesAutomatically(sessionId: string): Promise<boolean>
  /** Reports whether the name is that of an agent and not of a person. */
  isAgent(name: string): boolean
  /** Reports whether the process with this owner name is still running. */
  isAlive(owner: string): boolean | Promise<boolean>
  emit(event: QuartermasterEvent): void
  settings: { readonly durability: Durability }
  now(): number
}
