// The extension: starts the language server, and shows runs in a panel.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";
import { pictureArguments, reportArguments, verdictOfStatus } from "./command";

let client: LanguageClient | undefined;

function palisade(): string {
  return vscode.workspace.getConfiguration("palisade").get<string>("path", "palisade");
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const server: ServerOptions = { command: palisade(), args: ["lsp"] };
  const options: LanguageClientOptions = { documentSelector: [{ language: "pal" }, { pattern: "**/*.{tpl,litmus}" }] };
  client = new LanguageClient("palisade", "Palisade", server, options);
  context.subscriptions.push(
    vscode.commands.registerCommand("palisade.picture", () => show("Run", pictureArguments)),
    vscode.commands.registerCommand("palisade.report", () => show("Report", reportArguments)),
  );
  try {
    await client.start();
  } catch {
    void vscode.window.showErrorMessage(`\`${palisade()} lsp\` cannot be started. Is palisade installed? See the setting palisade.path.`);
  }
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

/** Runs the command on the file in the editor, and shows the page that it writes. */
async function show(title: string, argumentsFor: (file: string, page: string) => string[]): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (!document) return;
  await document.save();
  const page = join(mkdtempSync(join(tmpdir(), "palisade-")), "page.html");
  const child = spawn(palisade(), argumentsFor(document.fileName, page));
  child.on("error", () => vscode.window.showErrorMessage(`\`${palisade()}\` cannot be started.`));
  child.on("close", (status) => {
    if (!existsSync(page)) {
      void vscode.window.showInformationMessage(verdictOfStatus(status));
      return;
    }
    const panel = vscode.window.createWebviewPanel("palisade", `${title}: ${document.fileName.split("/").pop()}`, vscode.ViewColumn.Beside, {
      enableScripts: true,
    });
    panel.webview.html = readFileSync(page, "utf8");
  });
}
