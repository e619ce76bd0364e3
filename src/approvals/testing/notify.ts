import { silentLogger } from "../../core/logger.ts"
import { type Notice } from "../notify.ts"

export const sampleNotice: Notice = {
  callId: "call-1",
  kind: "call",
  agentId: "dev",
  tool: "set_env",
  until: Date.UTC(2030, 0, 2, 3, 4, 5),
  revision: 1,
}

export function makeLogger() {
  const warnings: string[] = []
  return { warnings, logger: { ...silentLogger, warn: (text: string) => void warnings.push(text) } }
}
