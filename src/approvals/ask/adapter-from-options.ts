import type { ApprovalUIAdapter, Ask } from "../../core/approval.ts"

/** One adapter from the `approvals` and `ask` options. If both can ask questions, `ask` does. */
export function adapterFromOptions(
  approvals: ApprovalUIAdapter | undefined,
  ask: Ask | undefined,
): Partial<ApprovalUIAdapter> {
  const showQuestion: ApprovalUIAdapter["showQuestion"] =
    ask === undefined
      ? approvals?.showQuestion?.bind(approvals)
      : async (question, { signal }) => ({ answer: await ask({ ...question, signal }) })
  return {
    ...(approvals && {
      ...(approvals.by !== undefined && { by: approvals.by }),
      showToolExecutionApproval: approvals.showToolExecutionApproval.bind(approvals),
      showToolResultApproval: approvals.showToolResultApproval.bind(approvals),
    }),
    ...(showQuestion && { showQuestion }),
  }
}
