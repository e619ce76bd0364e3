import type { ApprovalUIAdapter } from "../../../../core/approval.ts"

/** The person is asked by cards that answer in the queue, in `qm chat` and `qm run`; this only says that somebody is here. */
export const askedByCards: ApprovalUIAdapter = {
  showToolExecutionApproval: (_tool, _description, _input, _level, { signal }) => untilClosed(signal),
  showToolResultApproval: (_tool, _input, _result, { signal }) => untilClosed(signal),
  showQuestion: (_question, { signal }) => untilClosed(signal),
}

function untilClosed(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("It was answered elsewhere.")))
  })
}
