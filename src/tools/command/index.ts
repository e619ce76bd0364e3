import type { JavaScript } from "../../platform/javascript/evaluator.ts"
import type { Processes } from "../../platform/processes/process-access.ts"
import type { Tool } from "../../core/tool.ts"
import { commandOutput } from "./command-output.ts"
import { commandStop } from "./command-stop.ts"
import { runCommand, type RunCommandOptions } from "./run-command.ts"
import { runJavaScript } from "./run-javascript.ts"

export const commandTools = (processes: Processes, javaScript: JavaScript, options: RunCommandOptions = {}): Tool[] => [
  runCommand(processes, options),
  commandOutput(processes),
  commandStop(processes),
  runJavaScript(javaScript),
]
