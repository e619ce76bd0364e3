import type { AuthInfo } from "@modelcontextprotocol/server"
import type { Speaker } from "./door.ts"

/** How a speaker travels through the SDK. The token itself does not. */
export function authOf(speaker: Speaker): AuthInfo {
  return { token: "", clientId: speaker.tokenId ?? speaker.agentId, scopes: [], extra: { speaker } }
}

export function speakerOf(auth: AuthInfo | undefined): Speaker {
  const speaker = auth?.extra?.["speaker"]
  if (speaker === undefined) throw new Error("A request reached the SDK's handler without its speaker.")
  return speaker as Speaker
}
