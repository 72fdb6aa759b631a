# For `pkgs.callPackage ./packages/nix/package.nix { }` in a checkout. Not tried here.
{ lib, rustPlatform, installShellFiles }:

rustPlatform.buildRustPackage {
  pname = "thumbwire";
  version = "0.1.0";
  src = lib.cleanSource ../..;
  cargoLock.lockFile = ../../Cargo.lock;
  cargoBuildFlags = [ "--package" "thumbwire" "--all-features" ];
  buildType = "dist";
  # The tests need real programs: `.ci/parts`.
  doCheck = false;
  nativeBuildInputs = [ installShellFiles ];
  postInstall = ''
    $out/bin/thumbwire man pages
    installManPage pages/*.1
    for shell in bash fish zsh; do $out/bin/thumbwire completions $shell > thumbwire.$shell; done
    installShellCompletion thumbwire.{bash,fish,zsh}
  '';
  meta = {
    description = "Lets programs use phones: an MCP server, an agent and a virtual phone in one binary";
    homepage = "https://github.com/thumbwire/thumbwire";
    license = with lib.licenses; [ mit asl20 ];
    mainProgram = "thumbwire";
  };
}
