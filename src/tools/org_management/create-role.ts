import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { OrganisationAdmin } from "../../org/organisation-admin.ts"
import { asToolFailure, agentActor } from "./as-tool-failure.ts"
import { roleOutput } from "./output-schemas.ts"

export interface GroupList {
  list(): { id: string; description: string }[]
}

/** Creates a role with at most its creator's permissions. The description lists the groups that exist at the moment. */
export const createRole = (book: OrganisationAdmin, groups: GroupList) =>
  defineTool({
    name: "create_role",
    group: "org_management",
    category: "communication",
    description: [
      "Create a role, or get the one that has this name already (created is false then).",
      "Choose the tool groups its work needs; without the list it gets all groups, or yours if you have fewer; an empty list gives it no tools.",
    ].join(" "),
    describe: () => `Groups: ${groups.list().map(describeGroup).join(", ")}.`,
    effect: "communicate",
    permission: { level: "moderate" },
    input: () =>
      z.object({
        name: z.string().min(1).max(200).describe("The role's name, for example developer"),
        rolePrompt: z.string().min(1).max(100_000).describe("The instructions for agents of this role"),
        toolGroups: z
          .array(z.string().min(1))
          .max(1000)
          .nullable()
          .optional()
          .describe("Ids of groups, for example data"),
      }),
    output: roleOutput.extend({ created: z.boolean(), hint: z.string().optional() }),
    preview: ({ name, rolePrompt, toolGroups }) => `Role ${name}\nGroups: ${groupsText(toolGroups)}\n\n${rolePrompt}`,

    execute(given, context) {
      return asToolFailure(async () => {
        const { role, ...rest } = await book.createRole(given, agentActor(context))
        return { ...role, ...rest }
      })
    },
  })

function groupsText(toolGroups: readonly string[] | null | undefined): string {
  if (toolGroups === undefined || toolGroups === null) return "all its maker has"
  return toolGroups.length === 0 ? "none, so it has no tools" : toolGroups.join(", ")
}

function describeGroup({ id, description }: { id: string; description: string }): string {
  return description === "" ? id : `${id} (${description})`
}
