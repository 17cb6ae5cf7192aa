// The client of `palisade lsp`, and a panel with the run.
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions } from "vscode-languageclient/node";
import { panel, selector, settings } from "./shown";

let client: LanguageClient | undefined;
let view: vscode.WebviewPanel | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const register = (name: string, run: (uri?: string) => unknown) => context.subscriptions.push(vscode.commands.registerCommand(name, run));
  register("palisade.checkFile", (uri) => command("palisade.check", uri));
  register("palisade.insertFences", (uri) => command("palisade.fences", uri));
  register("palisade.cheapestOrders", (uri) => command("palisade.orders", uri));
  register("palisade.showRun", show);
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (!change.affectsConfiguration("palisade")) return;
      const restart = ["command", "c", "rust"].some((name) => change.affectsConfiguration("palisade." + name));
      if (restart) await start();
      else await client?.sendNotification("workspace/didChangeConfiguration", { settings: { palisade: current() } });
    }),
  );
  await start();
}

export function deactivate(): Promise<void> | undefined {
  return client?.stop();
}

const configuration = () => vscode.workspace.getConfiguration("palisade");
const current = () => settings((name) => configuration().get(name));

async function start(): Promise<void> {
  await client?.stop();
  const command = configuration().get("command", "palisade");
  const options: LanguageClientOptions = {
    documentSelector: selector((name) => configuration().get(name)),
    initializationOptions: current(),
  };
  client = new LanguageClient("palisade", "Palisade", { command, args: ["lsp"] }, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const choice = await vscode.window.showErrorMessage(`Palisade could not be started as "${command}": ${error}`, "Settings");
    if (choice) await vscode.commands.executeCommand("workbench.action.openSettings", "palisade.command");
  }
}

const address = (uri?: string) => uri ?? vscode.window.activeTextEditor?.document.uri.toString();

async function command(name: string, uri?: string): Promise<void> {
  try {
    await client?.sendRequest("workspace/executeCommand", { command: name, arguments: [address(uri)] });
  } catch (error) {
    await vscode.window.showInformationMessage("Palisade: " + (error as Error).message);
  }
}

async function show(uri?: string): Promise<void> {
  const run = await client?.sendRequest("palisade/run", { uri: address(uri) });
  if (!run) return;
  view ??= vscode.window.createWebviewPanel("palisade.run", "Palisade", { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, { enableScripts: true });
  view.onDidDispose(() => (view = undefined));
  view.webview.html = panel(run);
  view.reveal(undefined, true);
}
