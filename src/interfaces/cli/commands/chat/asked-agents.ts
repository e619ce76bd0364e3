import type { Quartermaster } from "../../../../app/quartermaster.ts"

/** The other agents that the chat's agent has asked, and whether they have answered. */
export class AskedAgents {
  readonly #society: Quartermaster["society"]
  readonly #conversationId: () => string
  #isLooking = false
  /** The agents whose answers have not come yet. */
  awaited: readonly string[] = []

  constructor(society: Quartermaster["society"], conversationId: () => string) {
    this.#society = society
    this.#conversationId = conversationId
  }

  /** Reports whether an unread answer has come. One look at a time: false while another one goes on. */
  async haveAnswered(): Promise<boolean> {
    if (this.#isLooking) return false
    this.#isLooking = true
    try {
      const { unread, sent } = await this.#society.openMessages(this.#conversationId())
      this.awaited = [...new Set(sent.map(({ to }) => to))]
      return unread > 0
    } finally {
      this.#isLooking = false
    }
  }
}
