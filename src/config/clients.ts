/** Programs whose configuration `qm init --from` reads and `qm install` writes. */
export const clientNames = ["claude", "cursor", "vscode"] as const
export type ClientName = (typeof clientNames)[number]
