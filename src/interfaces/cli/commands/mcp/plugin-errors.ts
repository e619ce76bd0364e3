import { inspect } from "node:util"
import { pluginAtFault, type PluginCode } from "../../../../lib/plugin-code.ts"
import type { CliContext } from "../../common/context.ts"
import { printMessage } from "../../common/output.ts"

/**
 * Lets a server go on after an error of a plugin that nothing caught, such as a throw in a timer, and says whose it is.
 * Any other such error ends the process, as it does without this. Returns a function that stops it.
 */
export function outlivePluginErrors(context: CliContext): () => void {
  const { io } = context
  const listener = (error: unknown) => {
    const code = pluginAtFault(error)
    if (code !== undefined) return printMessage(context, pluginErrorText(code, error))
    io.stderr.write(`${inspect(error)}\n`)
    io.leave(1)
  }
  const events = ["uncaughtException", "unhandledRejection"] as const
  for (const event of events) process.on(event, listener)
  return () => {
    for (const event of events) process.off(event, listener)
  }
}

function pluginErrorText({ plugin, tool }: PluginCode, error: unknown): string {
  const whose = tool === undefined ? `Plugin ${plugin}` : `Plugin ${plugin}, tool ${tool}`
  const message = error instanceof Error ? error.message || error.name : inspect(error)
  const text = `${whose}: threw an error that no call could catch: ${message}. The server goes on; correct the plugin, or switch it off with 'qm plugins unload ${plugin}'.`
  return text.replaceAll("\n", "\\n")
}
