import type { CallRequest, CallRow } from "../../core/call.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { inputSecrets } from "../../schema/input-secrets.ts"
import { storedRequest } from "../../store/stored-request.ts"
import type { ActiveCall, CallOptions } from "../state/active-call.ts"
import type { Ports } from "../state/ports.ts"
import { askSecretFields } from "../state/secret-fields.ts"

/** The call of a row whose caller has run the tool, with what its start decided. */
export function reportedCall(
  row: CallRow,
  options: Pick<CallOptions, "waitMs">,
): { request: CallRequest; options: CallOptions; state: Partial<ActiveCall> } {
  const { given, sessionId, started } = storedRequest(row)
  return {
    request: { ...given, input: JSON.parse(row.input ?? "{}") as unknown },
    options: { ...options, row, sessionId },
    state: {
      startedAt: started?.at ?? row.updatedAt,
      release: started?.release ?? "never",
      holds: started?.holds ?? [],
      ran: true,
      approvalNote: row.answer?.note,
    },
  }
}

/** Masks the input again, because a result may repeat its secrets. */
export async function maskReported(call: ActiveCall, tool: RegisteredTool, ports: Ports): Promise<unknown> {
  const { input } = call.request
  if (tool.secretFields !== undefined) await askSecretFields(call, tool, input)
  call.maskedInput = ports.masker.mask(input, inputSecrets(tool, call.secretFields))
  return input
}
