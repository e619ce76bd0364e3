import type { ApprovalUIAdapter } from "../../../../core/approval.ts"

/**
 * Replaces the name "terminal" on answers with the person's id from `nameOf`. If `nameOf` throws, the answer does not
 * count. Answers by --yes or by a timeout keep their name.
 */
export function attributeAnswers(adapter: ApprovalUIAdapter, nameOf: () => Promise<string>): ApprovalUIAdapter {
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
