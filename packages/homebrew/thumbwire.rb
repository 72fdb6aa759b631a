# For a Homebrew tap. Not tried here, and the release that it names does not exist yet: put in the sums of its SHA256SUMS.
class Thumbwire < Formula
  desc "Lets programs use phones: an MCP server, an agent and a virtual phone"
  homepage "https://github.com/thumbwire/thumbwire"
  version "0.1.0"
  license any_of: ["MIT", "Apache-2.0"]

  base = "https://github.com/thumbwire/thumbwire/releases/download/v#{version}/thumbwire-#{version}"
  on_macos do
    on_arm do
      url "#{base}-aarch64-apple-darwin.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
    on_intel do
      url "#{base}-x86_64-apple-darwin.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end
  on_linux do
    on_arm do
      url "#{base}-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
    on_intel do
      url "#{base}-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end

  def install
    bin.install "thumbwire"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/thumbwire.bash" => "thumbwire"
    fish_completion.install "completions/thumbwire.fish"
    zsh_completion.install "completions/_thumbwire"
  end

  test do
    system bin/"thumbwire", "demo", "--out", testpath/"demo"
  end
end
