// Links that carry a program, and what was asked about it.

export interface Carried {
  text: string;
  language: string;
  model: string;
  criterion: string;
}

async function through(bytes: Uint8Array, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const body = new Blob([bytes as BlobPart]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(body).arrayBuffer());
}

export async function link(carried: Carried): Promise<string> {
  const packed = await through(new TextEncoder().encode(JSON.stringify(carried)), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of packed) binary += String.fromCharCode(byte);
  const text = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return location.href.split("#")[0] + "#p=" + text;
}

/** A link that was cut or changed carries nothing. */
export async function carried(hash: string): Promise<Carried | undefined> {
  const found = /^#p=([A-Za-z0-9_-]+)$/.exec(hash);
  if (!found) return undefined;
  try {
    const binary = atob(found[1].replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(binary, (c) => c.charCodeAt(0));
    const value = JSON.parse(new TextDecoder().decode(await through(packed, new DecompressionStream("deflate-raw"))));
    const fields = ["text", "language", "model", "criterion"] as const;
    return fields.every((field) => typeof value[field] === "string") ? value : undefined;
  } catch {
    return undefined;
  }
}
