import type { ToolResult } from "../core/result.ts"
import type { Quartermaster } from "../app/quartermaster.ts"
import { callIn, type PrivateApp, type PrivateCallContext } from "./private-app.ts"

/** The parts of an app that the classes of a design need: one of their own, or the host's. */
export interface DesignApp extends Pick<PrivateApp, "open" | "close"> {
  call(name: string, input: unknown, context: PrivateCallContext): Promise<ToolResult>
}

/** An app of the host. What must be approved is asked as that app asks, and nobody here closes it. */
export function hostApp(app: Quartermaster): DesignApp {
  return {
    open: () => Promise.resolve(app),
    call: (name, input, context) => callIn(app, name, input, context),
    close: () => Promise.resolve(),
  }
}
