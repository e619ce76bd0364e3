import type { SessionEnvironment } from "../../store/port.ts"
import type { Tool } from "../../core/tool.ts"
import { currentTime } from "./current-time.ts"
import { getEnv, type CurrentEnvironment } from "./get-env.ts"
import { setEnv } from "./set-env.ts"
import { sleep } from "./sleep.ts"

export const systemTools = (session: SessionEnvironment, environment: CurrentEnvironment): Tool[] => [
  currentTime(),
  sleep(),
  getEnv(session, environment),
  setEnv(session, environment),
]
