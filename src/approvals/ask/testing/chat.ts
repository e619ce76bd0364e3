import { expect } from "vitest"
import type { ApprovalRequest, ApprovalUIAdapter } from "../../../core/approval.ts"
import { textAdapter } from "../chat.ts"
import { approvalRequest } from "../testing.ts"

/** A chat: what was posted, and a way to write into it and wait until it was read. */
export function fakeChat(by?: string) {
  const posted: string[] = []
  const waiting: { text: string; read: () => void }[] = []
  let wake = () => {}
  let isOver = false
  async function* replies() {
    for (;;) {
      const next = waiting.shift()
      if (next !== undefined) {
        yield next.text
        // The reader asks for the next one, so it has handled this.
        next.read()
      } else if (isOver) return
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  const chat = { post: (message: string) => void posted.push(message), replies: replies(), ...(by && { by }) }
  return {
    posted,
    adapter: textAdapter(chat),
    say: (text: string) => {
      const read = new Promise<void>((resolve) => waiting.push({ text, read: resolve }))
      wake()
      return read
    },
    end: () => {
      isOver = true
      wake()
    },
    /** The code of the nth card. */
    async code(place = 0) {
      await expect.poll(() => posted.length, { interval: 1, timeout: 30_000 }).toBeGreaterThan(place)
      return /^ {2}(?:approve|release|answer) (\w+)/m.exec(posted[place]!)![1]!
    },
  }
}

export function askCall(adapter: ApprovalUIAdapter, more: Partial<ApprovalRequest> = {}) {
  const request = approvalRequest(more)
  const { tool: name, description, input, level } = request
  return adapter.showToolExecutionApproval(name, description, input, level, request)
}
