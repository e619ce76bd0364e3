import type { ApprovalUIAdapter, Ask } from "../model/approval.ts"

/** The ways of asking a person that were given, as one adapter; `ask` is for questions and stands first. */
export function askingWith(approvals: ApprovalUIAdapter | undefined, ask: Ask | undefined): Partial<ApprovalUIAdapter> {
  const showQuestion: ApprovalUIAdapter["showQuestion"] =
    ask === undefined
      ? approvals?.showQuestion?.bind(approvals)
      : async (question, { signal }) => ({ answer: await ask({ ...question, signal }) })
  return {
    ...(approvals && {
      showToolExecutionApproval: approvals.showToolExecutionApproval.bind(approvals),
      showToolResultApproval: approvals.showToolResultApproval.bind(approvals),
    }),
    ...(showQuestion && { showQuestion }),
  }
}
