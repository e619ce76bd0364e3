import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import type { OrganisationBook } from "../../model/organisation-book.ts"
import { asToolFailure, callerOf } from "./refused.ts"
import { roleShape } from "./shapes.ts"

export interface GroupList {
  list(): { id: string; description: string }[]
}

/** Makes a role that gives at most what its maker has. The description names the groups there are when it is read. */
export const createRole = (book: OrganisationBook, groups: GroupList) =>
  defineTool({
    name: "create_role",
    group: "org_management",
    category: "communication",
    description: [
      "Create a role, or get the one that has this name already (created is false then).",
      "Choose the tool groups its work needs; without them it gets all groups, or yours if you have fewer.",
    ].join(" "),
    describe: () => `Groups: ${groups.list().map(inWords).join(", ")}.`,
    effect: "communicate",
    permission: { level: "moderate" },
    input: z.object({
      name: z.string().min(1).max(200).describe("The role's name, for example developer"),
      rolePrompt: z.string().min(1).max(100_000).describe("What agents of this role are told about their work"),
      toolGroups: z
        .array(z.string().min(1))
        .max(1000)
        .nullable()
        .optional()
        .describe("Ids of groups, for example data"),
    }),
    output: roleShape.extend({ created: z.boolean(), hint: z.string().optional() }),
    preview: ({ name, rolePrompt, toolGroups }) =>
      `Role ${name}\nGroups: ${toolGroups?.join(", ") || "all its maker has"}\n\n${rolePrompt}`,

    execute(given, context) {
      return asToolFailure(async () => {
        const { role, ...rest } = await book.createRole(given, callerOf(context))
        return { ...role, ...rest }
      })
    },
  })

function inWords({ id, description }: { id: string; description: string }): string {
  return description === "" ? id : `${id} (${description})`
}
