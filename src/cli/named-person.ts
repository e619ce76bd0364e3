import type { ApprovalUIAdapter } from "../model/approval.ts"

/**
 * Somebody at a terminal who says who they are when they answer: `nameOf` is asked then, and where it throws, the answer
 * does not count. An answer that nobody gave, or a flag, keeps its own name.
 */
export function namedPerson(adapter: ApprovalUIAdapter, nameOf: () => Promise<string>): ApprovalUIAdapter {
  const { showQuestion } = adapter
  const named = async <Decision extends { by?: string }>(decision: Decision): Promise<Decision> =>
    decision.by === "terminal" ? { ...decision, by: await nameOf() } : decision
  return {
    showToolExecutionApproval: async (...shown) => named(await adapter.showToolExecutionApproval(...shown)),
    showToolResultApproval: async (...shown) => named(await adapter.showToolResultApproval(...shown)),
    ...(showQuestion && {
      showQuestion: async (question, request) => named(await showQuestion.call(adapter, question, request)),
    }),
  }
}
