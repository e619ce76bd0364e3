import type { CliCommand } from "../../common/cli-command.ts"
import type { ListedModel, Models } from "../../../../agents/models/open-models.ts"
import type { ModelProbe } from "../../../../agents/models/probe-model.ts"
import { printable } from "../../../../lib/printable.ts"
import type { CliContext, Run } from "../../common/context.ts"
import { showList, type ListColumn } from "../../common/listing.ts"
import { loadConfigWithWarnings } from "../../common/open-app.ts"
import { printMessage } from "../../common/output.ts"
import { cancelOnSignal } from "../../common/signals.ts"
import { CannotDo, listCommand } from "../../common/usage.ts"

export function addModels(program: CliCommand, run: Run): void {
  const models = program.command("models").description("the models that agents talk to")
  listCommand(models, "the models").example("qm models list").allowInTool().action(run(listModels))
  models
    .command("test [name]")
    .example("qm models test claude")
    .description(
      "ask one model, or all of them, to make a call; exit 1 if one does not answer or makes none; costs a few tokens",
    )
    .action(run(testModels))
}

const none =
  "No model is configured. Add one to quartermaster.yml, for example: models: { local: { provider: openai-compatible, baseUrl: 'http://127.0.0.1:11434/v1', model: qwen3 } }"

async function openModels(context: CliContext): Promise<Models> {
  const { config, unset } = await loadConfigWithWarnings(context)
  const [{ openModels: open }, { modelEntries }] = await Promise.all([
    import("../../../../agents/models/open-models.ts"),
    import("../../../../config/models-schema.ts"),
  ])
  const settings = modelEntries(config.models)
  return open({ settings, default: config.models?.default, environment: context.io.env, unset: unset.models })
}

async function listModels(context: CliContext): Promise<number> {
  const models = await openModels(context)
  await showList<ListedModel>(
    context,
    models.list(),
    [
      ...nameColumns,
      { title: "DEFAULT", of: ({ isDefault }) => (isDefault ? "yes" : "") },
      { title: "CONTEXT", of: ({ contextTokens }) => contextTokens },
      { title: "KEY", of: ({ key }) => key && keyText(key) },
    ],
    none,
  )
  return 0
}

function keyText({ variable, isSet, isOptional }: NonNullable<ListedModel["key"]>): string {
  if (isSet) return `${variable} is set`
  return isOptional ? `none needed (${variable} would be used)` : `${variable} is not set`
}

const nameColumns: ListColumn<{ name: string; provider: string; model: string }>[] = [
  { title: "NAME", of: ({ name }) => name, paint: "bold" },
  { title: "PROVIDER", of: ({ provider }) => provider },
  { title: "MODEL", of: ({ model }) => model },
]

type TestedModel = Pick<ListedModel, "name" | "provider" | "model"> & ModelProbe

async function testModels(context: CliContext, given: string | undefined): Promise<number> {
  const models = await openModels(context)
  const { ModelError } = await import("../../../../agents/models/model-error.ts")
  const { probeModel } = await import("../../../../agents/models/probe-model.ts")
  const listed = models.list()
  const names = given === undefined ? listed.map(({ name }) => name) : [given]
  if (names.length === 0) throw new CannotDo("no_models", none)
  const { controller, stop } = cancelOnSignal(context.io.leave, () => printMessage(context, "Stopping."))
  const tested: TestedModel[] = []
  try {
    for (const name of names) {
      const model = models.get(name)
      if (!context.flags.json) printMessage(context, `Asking ${name} …`)
      const probe = await probeModel(model, controller.signal)
      tested.push({ name, provider: model.provider, model: model.modelId, ...probe })
    }
  } catch (error) {
    if (error instanceof ModelError) throw new CannotDo(error.code, error.message)
    if (controller.signal.aborted) return 1
    throw error
  } finally {
    stop()
  }
  await showTested(context, tested)
  return tested.every(({ answers, tools }) => answers && tools !== false) ? 0 : 1
}

async function showTested(context: CliContext, tested: readonly TestedModel[]): Promise<void> {
  const yes = (value: boolean | undefined) => (value === undefined ? undefined : value ? "yes" : "no")
  await showList<TestedModel>(
    context,
    tested,
    [
      ...nameColumns,
      {
        title: "ANSWERS",
        of: ({ answers }) => yes(answers),
        paint: (paint, cell) => paint[cell === "yes" ? "green" : "red"](cell),
      },
      { title: "TOOLS", of: ({ tools }) => yes(tools) },
      { title: "STREAMING", of: ({ streaming }) => yes(streaming) },
      { title: "FIRST MS", of: ({ firstPartMs }) => firstPartMs },
      { title: "MS", of: ({ ms }) => ms },
    ],
    none,
  )
  if (context.flags.json) return
  for (const { problem } of tested) if (problem !== undefined) printMessage(context, printable(problem.message))
}
