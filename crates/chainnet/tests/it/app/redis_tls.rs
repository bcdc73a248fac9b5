//! Redis behind TLS: a server whose certificate is trusted is used, any other is refused.

use std::sync::Arc;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

use super::folder;
use crate::rig::chainnet_with;

const AUTHORITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/app/tls/authority.pem");

/// A server that speaks as much of Redis as it takes to say that it is there. Answers its port.
async fn redis_behind_tls() -> u16 {
    let certificate = CertificateDer::from_pem_slice(include_bytes!("tls/server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/server.key")).unwrap();
    let config =
        ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut bytes = [0; 4096];
                // Every command is an array, which begins with an asterisk; each is answered with a word.
                while let Ok(read @ 1..) = stream.read(&mut bytes).await {
                    let commands = bytes[..read].iter().filter(|byte| **byte == b'*').count();
                    let answers = "+OK\r\n".repeat(commands);
                    if stream.write_all(answers.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis_is_reached_over_tls_if_its_certificate_is_trusted() {
    let (data, port) = (folder(), redis_behind_tls().await);
    for (authority, verdict) in [(None, "fail"), (Some(AUTHORITY), "ok")] {
        let ended = chainnet_with(["doctor", "--json"], |command| {
            command
                .env("CHAINNET_DATA", data.path())
                .env("PLATFORM_RPC_URL", "http://127.0.0.1:1")
                .env("REDIS_URL", format!("rediss://:hunter2@127.0.0.1:{port}/0"));
            if let Some(authority) = authority {
                command.env("SSL_CERT_FILE", authority);
            }
        })
        .await;
        let findings: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
        let redis = findings.as_array().unwrap().iter().find(|finding| finding["check"] == "redis").unwrap();
        assert_eq!(redis["verdict"], verdict, "{redis}");
        assert!(!ended.out.contains("hunter2") && !ended.err.contains("hunter2"), "{ended:?}");
    }
}
